/**
 * The interface every protocol's decoder implements. Pure: logs and node answers in, venue events out; the caller does
 * all reading.
 */
import type { KnownContract } from '../../../core/domain/exchanges.js'
import type { LaunchStage } from '../../../core/domain/records.js'
import type { EvmLog } from './log.js'
import type { Venue, VenueState } from './venue.js'

/** A call of a contract's view: what `eth_call` takes. */
export type Call = { to: string; data: string }

/**
 * A generator that yields calls, receives their answers in the same order (null: reverted, or no contract), as often as
 * it needs, and returns its result. It never throws because of an answer: answers are untrusted.
 */
export type Reading<T> = Generator<readonly Call[], T, readonly (string | null)[]>

export type ChainContracts = {
  /** The token that represents the native coin in events. */
  wrappedNative: string | undefined
  /** By address. */
  contracts: ReadonlyMap<string, KnownContract>
  /** Pools named in the configuration: accepted whatever their factory. */
  named: ReadonlySet<string>
}

/** Not a venue of this protocol, or not a trustworthy one. `isOurs`: it is one, but its tokens cannot be read. */
export type Refusal = { refused: string; isOurs?: true }

/** What a log did at a venue. `reserves`: the venue's, right after it. */
export type VenueEvent = { log: EvmLog; reserves: VenueState['reserves'] } & (
  | {
      kind: 'swap'
      sender: string
      recipient: string
      /** Indexes into the venue's tokens. */
      tokenIn: number
      tokenOut: number
      amountIn: bigint
      amountOut: bigint
      /** Q64.96, where the protocol has one. */
      sqrtPrice?: bigint
    }
  | { kind: 'liquidity'; change: 'add' | 'remove'; sender: string; amounts: readonly bigint[] }
  /** The reserves changed without a trade and without a liquidity change: collected fees, a donation, a rebase. */
  | { kind: 'reserves'; sender: string }
  | {
      kind: 'launch'
      platform: string
      token: string
      stage: LaunchStage
      progress: number | null
      pool: string | null
    }
  | {
      kind: 'token'
      token: string
      name: string | null
      symbol: string | null
      decimals: number | null
      totalSupply: bigint | null
    }
)

export type Applied<State extends VenueState> = { state: State; events: readonly VenueEvent[] }

export interface Protocol<State extends VenueState = VenueState> {
  readonly name: string
  /** Its venues live in one known contract, which emits their logs. */
  readonly isSingleton?: boolean
  /** Its registries may list a venue long after its first trade. */
  readonly isVouchedLater?: boolean
  /** Of a singleton: the format of its venue ids. */
  readonly ids?: RegExp
  /** topic0 of a known contract's logs that create a venue. */
  readonly creationTopics: readonly string[]
  /** topic0 of every log that changes a venue. One in both lists does both. */
  readonly topics: readonly string[]
  /** The venue a log of `topics` is about; null if none (a singleton's log about something else). */
  venueOf(log: EvmLog): string | null
  /** Reads a creation log of a contract that `chain.contracts` lists for this protocol. Null if it creates nothing that can be followed. */
  created(log: EvmLog, contract: KnownContract, chain: ChainContracts): Venue | null
  /** Describes a venue whose creation was not seen, from one of its logs. Other protocols may share the topics: refuse their venues. */
  describe(id: string, log: EvmLog, chain: ChainContracts): Reading<Venue | Refusal>
  /** State of a venue created in this block. */
  emptyState(venue: Venue): State
  /** State of a venue whose creation was not seen, read as of the parent block. */
  readState(venue: Venue, chain: ChainContracts): Reading<State>
  /** Applies one log of `topics`. Throws `BadLog` where the log is not what its topic says. */
  apply(log: EvmLog, venue: Venue, state: State): Applied<State>
  /** The state after a log that `apply` refused: what the log would have closed or continued must not become another event. */
  refuse?(log: EvmLog, state: State): State
  /** Called after a transaction's last log, for events that depend on all of them. */
  settle?(venue: Venue, state: State): Applied<State>
  /** Where its shares are a token at the venue's address: topic0 of the logs that change their supply. */
  readonly shareTopics?: readonly string[]
  /** Whether the price is not the ratio of the reserves (bins, weights, curves): then each trade's own price is used. */
  isPricedByTrades?(venue: Venue): boolean
  /** For protocols whose logs do not give exact reserves: reads them at the end of each block that touched the venue. */
  readReserves?(venue: Venue, chain: ChainContracts): Reading<readonly bigint[] | null>
}

/** A log that is not what its topic says: it becomes a dead letter. */
export class BadLog extends Error {
  constructor(
    readonly log: EvmLog,
    detail: string,
  ) {
    super(detail)
    this.name = 'BadLog'
  }
}

/** Venue events before their log and reserves are attached. */
export type EventDraft = WithoutLog<VenueEvent>
type WithoutLog<H> = H extends { kind: 'swap' | 'liquidity' | 'reserves' } ? Omit<H, 'log' | 'reserves'> : never

/** Field by field: this is the hottest line of a backfill, and object spread over different shapes costs several times as much. */
export function completeEvent(draft: EventDraft, log: EvmLog, reserves: VenueState['reserves']): VenueEvent {
  const { kind, sender } = draft
  if (kind === 'reserves') return { kind, sender, log, reserves }
  if (kind === 'liquidity') return { kind, change: draft.change, sender, amounts: draft.amounts, log, reserves }
  const { recipient, tokenIn, tokenOut, amountIn, amountOut, sqrtPrice } = draft
  if (sqrtPrice === undefined) return { kind, sender, recipient, tokenIn, tokenOut, amountIn, amountOut, log, reserves }
  return { kind, sender, recipient, tokenIn, tokenOut, amountIn, amountOut, sqrtPrice, log, reserves }
}

/**
 * One token in, the other out (or zero out, after rounding) is a swap. Both in one direction, or neither, is not a trade.
 * `net`: positive is the pool's gain.
 */
export function netSwap(
  [net0, net1]: readonly [bigint, bigint],
  sender: string,
  recipient: string,
  sqrtPrice?: bigint,
): EventDraft {
  const price = sqrtPrice === undefined ? {} : { sqrtPrice }
  if (net0 > 0n && net1 <= 0n) {
    return { kind: 'swap', sender, recipient, tokenIn: 0, tokenOut: 1, amountIn: net0, amountOut: -net1, ...price }
  }
  if (net1 > 0n && net0 <= 0n) {
    return { kind: 'swap', sender, recipient, tokenIn: 1, tokenOut: 0, amountIn: net1, amountOut: -net0, ...price }
  }
  return { kind: 'reserves', sender }
}
