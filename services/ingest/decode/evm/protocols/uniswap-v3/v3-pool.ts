/**
 * Concentrated-liquidity pools: a protocol composed of its logs, its factory's creations and its views, and the
 * reserves that follow from the logs.
 */

import type { KnownContract } from '../../../../../core/domain/exchanges.js'
import { readBalances } from '../../erc20.js'
import type { EvmLog } from '../../log.js'
import { describePool, type PoolKind } from '../../pool-contract.js'
import {
  type Applied,
  BadLog,
  completeEvent,
  type EventDraft,
  type Protocol,
  type Reading,
  type VenueEvent,
} from '../../protocol.js'
import type { Venue, VenueState } from '../../venue.js'

export type V3Parts = {
  kind: PoolKind
  moves: ReadonlyMap<string, ReadMove>
  /** By topic0 of the factory's log. */
  creations: ReadonlyMap<string, (log: EvmLog, contract: KnownContract) => Venue | null>
}

export function v3Protocol({ kind, moves, creations }: V3Parts): Protocol<V3State> {
  return {
    name: kind.protocol,
    creationTopics: [...creations.keys()],
    topics: [...moves.keys()],
    venueOf: (log) => log.address,
    created: (log, contract) => creations.get(log.topics[0] ?? '')?.(log, contract) ?? null,
    describe: (id, _log, chain) => describePool(id, kind, chain),
    emptyState: () => v3State([0n, 0n]),
    *readState(venue): Reading<V3State> {
      return v3State(yield* readBalances(venue.tokens, venue.id))
    },
    apply(log, _venue, state) {
      const read = moves.get(log.topics[0] ?? '')
      if (read === undefined) throw new BadLog(log, `not a ${kind.protocol} log`)
      return move(log, state, read(log))
    },
    settle: (_venue, state) => settle(state),
  }
}

/**
 * Reserves are the sum of what logs add and remove. Liquidity is removed in two steps: Burn sets the tokens aside,
 * Collect pays them out. A removal should show the reserves after the payout, so a Burn already counts the Collect that
 * follows it in the same transaction; from a Burn on, events wait for the transaction's end.
 */

export type Amounts = readonly [bigint, bigint]

/** What one log did: the pool's gain by token, the event to publish, and the position a Burn or Collect is about. */
export type Move = {
  gained: Amounts
  draft: EventDraft | null
  burns?: string
  collects?: string
  sqrtPrice?: bigint
}

export type ReadMove = (log: EvmLog) => Move

type Step = { log: EvmLog; gained: Amounts; draft: EventDraft | null }

export type V3State = VenueState & {
  /** Q64.96; null until a log states it. */
  sqrtPrice: bigint | null
  /** From the transaction's first Burn on. */
  held: { before: Amounts; steps: readonly Step[]; burns: ReadonlyMap<string, BurnStep> } | null
}

/** Index of a position's Burn among the steps; `paid`: a Collect has followed, so the next Burn starts a new removal. */
type BurnStep = { step: number; paid: boolean }

const NOTHING: Amounts = [0n, 0n]
const MAX_BALANCE = (1n << 256n) - 1n

export function v3State(reserves: VenueState['reserves'], sqrtPrice: bigint | null = null): V3State {
  return { reserves, sqrtPrice, held: null }
}

export function move(log: EvmLog, state: V3State, moved: Move): Applied<V3State> {
  const { reserves } = state
  const sqrtPrice = moved.sqrtPrice ?? state.sqrtPrice
  if (reserves === null) return { state: { ...state, sqrtPrice }, events: eventsOf(log, moved.draft, null, NOTHING) }
  const [before0 = 0n, before1 = 0n] = reserves
  const after = plus([before0, before1], moved.gained)
  if (state.held === null && moved.burns === undefined) {
    return { state: v3State(possibleOrNull(after), sqrtPrice), events: eventsOf(log, moved.draft, after, moved.gained) }
  }
  const held = hold(log, state.held ?? { before: [before0, before1], steps: [], burns: new Map() }, moved)
  return { state: { reserves: after, sqrtPrice, held }, events: [] }
}

export function settle({ sqrtPrice, held, reserves }: V3State): Applied<V3State> {
  const events: VenueEvent[] = []
  let after: Amounts = held?.before ?? NOTHING
  for (const { log, gained, draft } of held?.steps ?? []) {
    after = plus(after, gained)
    events.push(...eventsOf(log, draft, after, gained))
  }
  return { state: v3State(held === null ? reserves : possibleOrNull(after), sqrtPrice), events }
}

type Held = NonNullable<V3State['held']>

function hold(log: EvmLog, { before, steps, burns }: Held, moved: Move): Held {
  const { gained, draft } = moved
  const burnt = moved.collects === undefined ? undefined : burns.get(moved.collects)
  if (moved.collects !== undefined && burnt !== undefined) {
    const paid = steps.map((step, place) =>
      place === burnt.step ? { ...step, gained: plus(step.gained, gained) } : step,
    )
    return { before, steps: paid, burns: new Map(burns).set(moved.collects, { ...burnt, paid: true }) }
  }
  const next = { before, steps: [...steps, { log, gained, draft }] }
  // A position manager burns twice before it collects: the liquidity, then zero to update fees. The first Burn gets the payout.
  if (moved.burns === undefined || burns.get(moved.burns)?.paid === false) return { ...next, burns }
  return { ...next, burns: new Map(burns).set(moved.burns, { step: steps.length, paid: false }) }
}

/** A change of reserves without a trade is published only if it is known and not zero. */
function eventsOf(
  log: EvmLog,
  draft: EventDraft | null,
  after: Amounts | null,
  gained: Amounts,
): readonly VenueEvent[] {
  if (draft === null || (draft.kind === 'reserves' && gained[0] === 0n && gained[1] === 0n)) return []
  return [completeEvent(draft, log, after === null ? null : possibleOrNull(after))]
}

function plus([a0, a1]: Amounts, [b0, b1]: Amounts): Amounts {
  return [a0 + b0, a1 + b1]
}

/** Null for impossible balances: then the token's balances do not follow the pool's logs (taxes, rebases) and are unknown. */
function possibleOrNull(amounts: Amounts): Amounts | null {
  const [amount0, amount1] = amounts
  return amount0 < 0n || amount1 < 0n || amount0 > MAX_BALANCE || amount1 > MAX_BALANCE ? null : amounts
}
