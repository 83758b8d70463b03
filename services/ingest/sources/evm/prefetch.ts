/**
 * Reads from the chain what decoding some blocks will need: pools and tokens that appear for the first time, and values
 * that logs do not contain.
 */

import { ZERO_ADDRESS } from '../../../core/domain/chains.js'
import type { DextapeError } from '../../../core/domain/errors.js'
import { answeredUint } from '../../decode/evm/abi/view-calls.js'
import type { Book } from '../../decode/evm/block/book.js'
import {
  createdVenue,
  type DecodeRules,
  isInScope,
  isWellMade,
  mayBeInScope,
  venueRef,
} from '../../decode/evm/block/decode-rules.js'
import { atBlock, nothingPrefetched, ofHolder, type Prefetched } from '../../decode/evm/block/prefetched.js'
import { type FollowedTransfer, followedTransfers } from '../../decode/evm/block/transfers.js'
import { balanceCall, readBalance, readSupply, readToken, supplyCall } from '../../decode/evm/erc20.js'
import type { EvmLog } from '../../decode/evm/log.js'
import { BadLog, type Protocol, type Reading, type Refusal } from '../../decode/evm/protocol.js'
import type { Venue } from '../../decode/evm/venue.js'
import { isPruned } from '../nodes/node-fault.js'
import type { ChainReader, CheckedBlock, Header } from './chain-reader.js'
import { type ReadingAt, readAll } from './read-all.js'

export type PrefetchDeps = {
  reader: Pick<ChainReader, 'call' | 'head'>
  rules: DecodeRules
  /** Addresses found not to be venues, so that they are not read again. */
  refusals: Map<string, Refusal>
  onPruned: (error: DextapeError) => void
}

/** A block to be decoded, and the one before it. */
export type BlockToPrefetch = { block: CheckedBlock; parent: Header }

type Described = { venue: Venue; protocol: Protocol }

type NewVenue = { id: string; log: EvmLog; candidates: readonly Protocol[]; at: BlockToPrefetch }

export async function prefetchFor(
  blocks: readonly BlockToPrefetch[],
  book: Book,
  { reader, rules, refusals, onPruned }: PrefetchDeps,
  signal: AbortSignal,
): Promise<Prefetched> {
  const prefetched = nothingPrefetched()
  const read = <T>(tasks: readonly ReadingAt<T>[]) => readAll(tasks, reader, signal, onPruned)
  // A pool's or token's facts do not change: where old state is pruned, the newest state serves as well.
  const readFacts = <T>(tasks: readonly ReadingAt<T>[]) => readAll(tasks, factReader(reader), signal, onPruned)
  const found = findVenues(blocks, book, rules, refusals)
  await describeNewVenues()
  const transfers = findTransfers()
  await Promise.all([readTokens(), readEnds(), readShares(), readHolders(transfers)])
  return prefetched

  /** Describes each as of its block, then reads the state of those in scope as of the parent block. */
  async function describeNewVenues(): Promise<void> {
    const described = await readFacts(found.met.map((met) => ({ at: met.at.block, reading: describe(met) })))
    await describeLate(described)
    const ours: ({ met: NewVenue } & Described)[] = []
    for (const [index, met] of found.met.entries()) {
      const result = kept(described[index] ?? { refused: 'the node returned nothing' })
      if ('refused' in result) refuse(met.id, result)
      else ours.push({ met, ...result })
    }
    const states = await read(
      ours.map(({ met, venue, protocol }) => ({
        at: met.at.parent,
        reading: protocol.readState(venue, rules.contracts),
      })),
    )
    ours.forEach(({ met, venue }, index) => {
      const state = states[index]
      if (state !== undefined) prefetched.venues.set(met.id, { venue, state })
      found.tokens.push(...venue.tokens.map((token) => ({ token, at: met.at })))
    })
  }

  /** Tries again at the head for venues that a registry may have listed since. */
  async function describeLate(described: (Described | Refusal | undefined)[]): Promise<void> {
    const refused = [...found.met.entries()].filter(([index, { candidates }]) => {
      const result = described[index]
      return result !== undefined && 'refused' in result && candidates.some(({ isVouchedLater }) => isVouchedLater)
    })
    if (refused.length === 0) return
    const head = await reader.head(signal)
    const late = refused.filter(([, { at }]) => at.block.number < head.number)
    const again = await readFacts(late.map(([, met]) => ({ at: head, reading: describe(met) })))
    for (const [place, [index]] of late.entries()) described[index] = again[place]
  }

  function kept(result: Described | Refusal): Described | Refusal {
    if ('refused' in result) return result
    if (!isWellMade(result.venue)) return { refused: 'it lists a token twice' }
    return isInScope(rules.scope, result.venue) ? result : { refused: 'it is out of scope' }
  }

  function refuse(id: string, refusal: Refusal): void {
    refusals.set(id, refusal)
    prefetched.venues.set(id, refusal)
  }

  function* describe({ id, log, candidates }: NewVenue): Reading<Described | Refusal> {
    let last: Refusal = { refused: 'no protocol recognises it' }
    for (const protocol of candidates) {
      const result = yield* protocol.describe(id, log, rules.contracts)
      if (!('refused' in result)) return { venue: result, protocol }
      last = result
    }
    return last
  }

  async function readTokens(): Promise<void> {
    const first = new Map<string, Header>()
    for (const { token, at } of found.tokens) {
      const known = first.get(token)
      if (book.token(token) === undefined && (known === undefined || at.block.number < known.number))
        first.set(token, at.block)
    }
    const tokens = [...first]
    const facts = await readFacts(tokens.map(([token, at]) => ({ at, reading: readToken(token) })))
    tokens.forEach(([token], index) => {
      const fact = facts[index]
      if (fact !== undefined) prefetched.tokens.set(token, fact)
    })
  }

  /** Reads reserves that are only available as state at the block's end. */
  async function readEnds(): Promise<void> {
    const wanted = new Map<string, ReadingAt<readonly bigint[] | null>>()
    for (const { block, ids } of found.touched) {
      for (const id of ids) {
        const known = book.venue(id) ?? prefetched.venues.get(id)
        if (known === undefined || 'refused' in known) continue
        const protocol = rules.protocolNamed(known.venue.protocol)
        const reading = protocol?.readReserves?.(known.venue, rules.contracts)
        if (reading !== undefined) wanted.set(atBlock(block.number, id), { at: block, reading })
      }
    }
    const keys = [...wanted.keys()]
    const reserves = await read([...wanted.values()])
    keys.forEach((key, index) => {
      prefetched.reserves.set(key, reserves[index] ?? null)
    })
  }

  /** Reads the supply of a pool's shares where the pool first appears and where it may have changed. */
  async function readShares(): Promise<void> {
    if (rules.scope.balances === 'off') return
    const firstSeen = new Set(found.met.map(({ id, at }) => atBlock(at.block.number, id)))
    const wanted = new Map<string, ReadingAt<bigint | null>>()
    for (const { block, ids } of found.touched) {
      for (const id of ids) {
        const topics = shareTopicsOf(id)
        const key = atBlock(block.number, id)
        const isMoved = ({ address, topics: [topic = ''] }: EvmLog) => address === id && topics.includes(topic)
        if (topics.length > 0 && (firstSeen.has(key) || block.logs.some(isMoved)))
          wanted.set(key, { at: block, reading: readSupply(id) })
      }
    }
    const supplies = await read([...wanted.values()])
    for (const [index, key] of [...wanted.keys()].entries()) prefetched.shares.set(key, supplies[index] ?? null)
  }

  /** None: its shares are not a token, or it is not followed. */
  function shareTopicsOf(id: string): readonly string[] {
    const known = book.venue(id) ?? prefetched.venues.get(id) ?? found.made.get(id)
    if (known === undefined || 'refused' in known) return []
    return rules.protocolNamed(known.venue.protocol)?.shareTopics ?? []
  }

  /** A token counts as traded from the block after its first pool, exactly as when the blocks are decoded. */
  function findTransfers(): { at: BlockToPrefetch; followed: FollowedTransfer[] }[] {
    const tradedSince = new Map<string, number>()
    for (const { token, at } of found.tokens)
      tradedSince.set(token, Math.min(at.block.number, tradedSince.get(token) ?? Number.POSITIVE_INFINITY))
    return blocks.map((at) => {
      const isTraded = (token: string) =>
        book.token(token)?.traded === true || at.block.number > (tradedSince.get(token) ?? Number.POSITIVE_INFINITY)
      const followed = followedTransfers(at.block, isTraded, rules)
      for (const { log } of followed) found.tokens.push({ token: log.address, at })
      return { at, followed }
    })
  }

  /** Reads each unpublished holder's balance before every block that has a transfer of it: which of them decoding will publish is not known yet. */
  async function readHolders(transfers: ReturnType<typeof findTransfers>): Promise<void> {
    const balances = new Map<string, { token: string; at: BlockToPrefetch; reading: Reading<Before> }>()
    const supplies = new Map<string, ReadingAt<{ total: bigint | null; atZero: bigint | null }>>()
    for (const { at, followed } of transfers) {
      const { number } = at.block
      for (const { log, transfer } of followed) {
        const token = log.address
        for (const holder of [transfer.from, transfer.to]) {
          const key = atBlock(number, ofHolder(token, holder))
          if (holder === ZERO_ADDRESS) {
            supplies.set(atBlock(number, token), { at: at.block, reading: readSupplyAndZero(token) })
          } else if (!book.hasHolder(token, holder) && !balances.has(key)) {
            balances.set(key, { token, at, reading: readBefore(token, holder) })
          }
        }
      }
    }
    const asked = [...balances]
    const [before, supplyAnswers] = await Promise.all([
      read(asked.map(([, { at, reading }]) => ({ at: at.parent, reading }))),
      read([...supplies.values()]),
    ])
    await keepBalances(
      asked.map(([key, { token, at }], index) => ({ key, token, at, before: before[index] ?? NO_ANSWER })),
    )
    for (const [index, key] of [...supplies.keys()].entries())
      prefetched.supplies.set(key, supplyAnswers[index] ?? { total: null, atZero: null })
  }

  /** A token that has no supply before the block and has one at its end was created in it: earlier balances are zero. */
  async function keepBalances(
    found: readonly { key: string; token: string; at: BlockToPrefetch; before: Before }[],
  ): Promise<void> {
    const silent = found.filter(({ before }) => before.balance === null && before.supply === null)
    const now = await read(silent.map(({ token, at }) => ({ at: at.block, reading: readSupply(token) })))
    const made = new Set(silent.filter((_, index) => (now[index] ?? null) !== null).map(({ key }) => key))
    for (const { key, before } of found) prefetched.balances.set(key, made.has(key) ? 0n : before.balance)
  }
}

type Before = { balance: bigint | null; supply: bigint | null }
const NO_ANSWER: Before = { balance: null, supply: null }

function* readBefore(token: string, holder: string): Reading<Before> {
  const balance = yield* readBalance(token, holder)
  const supply = balance === null ? yield* readSupply(token) : null
  return { balance, supply }
}

function* readSupplyAndZero(token: string): Reading<{ total: bigint | null; atZero: bigint | null }> {
  const [total, atZero] = yield [supplyCall(token), balanceCall(token, ZERO_ADDRESS)]
  return { total: answeredUint(total), atZero: answeredUint(atZero) }
}

/** Falls back to the head where the block's state is pruned. */
function factReader(reader: PrefetchDeps['reader']): Pick<ChainReader, 'call'> {
  return {
    async call(calls, at, signal) {
      try {
        return await reader.call(calls, at, signal)
      } catch (error) {
        if (!isPruned(error)) throw error
        return reader.call(calls, await reader.head(signal), signal)
      }
    },
  }
}

type Found = {
  /** Created in these blocks. */
  made: Map<string, { venue: Venue }>
  met: NewVenue[]
  tokens: { token: string; at: BlockToPrefetch }[]
  touched: { block: CheckedBlock; ids: Set<string> }[]
}

function findVenues(
  blocks: readonly BlockToPrefetch[],
  book: Book,
  rules: DecodeRules,
  refusals: ReadonlyMap<string, Refusal>,
): Found {
  const found: Found = { made: new Map(), met: [], tokens: [], touched: [] }
  /** Already handled in these blocks. */
  const pending = new Set<string>()
  for (const at of blocks) {
    const ids = new Set<string>()
    found.touched.push({ block: at.block, ids })
    for (const log of at.block.logs) {
      // A pool's logs are only about itself: its first log is enough.
      if (ids.has(log.address) && !rules.contracts.contracts.has(log.address)) continue
      try {
        const venue = createdVenue(log, rules)
        if (venue !== null && book.venue(venue.id) === undefined) {
          pending.add(venue.id)
          found.made.set(venue.id, { venue })
          found.tokens.push(...venue.tokens.map((token) => ({ token, at })))
        }
        const ref = venueRef(log, rules)
        if (ref === null || !mayBeInScope(rules.scope, ref.id)) continue
        ids.add(ref.id)
        if (pending.has(ref.id)) continue
        pending.add(ref.id)
        if (refusals.has(ref.id) || book.venue(ref.id) !== undefined) continue
        found.met.push({ id: ref.id, log, candidates: ref.candidates, at })
      } catch (error) {
        if (!(error instanceof BadLog)) throw error
      }
    }
  }
  return found
}
