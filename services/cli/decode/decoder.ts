/** Blocks → events, with what a file tells instead of what a node would. */
import type { ChainFacts } from '../../core/domain/chains.js'
import type { KnownContract } from '../../core/domain/evm-contracts.js'
import type { Event } from '../../core/domain/records.js'
import { memoryBook } from '../../ingest/decode/evm/block/book.js'
import { decodeBlock } from '../../ingest/decode/evm/block/decode-block.js'
import { createdVenue, createRules, venueRef } from '../../ingest/decode/evm/block/decode-rules.js'
import { nothingPrefetched } from '../../ingest/decode/evm/block/prefetched.js'
import type { EvmBlock, EvmLog } from '../../ingest/decode/evm/log.js'
import { BadLog, type Protocol, type Reading } from '../../ingest/decode/evm/protocol.js'
import { PROTOCOLS } from '../../ingest/decode/evm/protocols.js'
import type { Venue } from '../../ingest/decode/evm/venue.js'
import { protocolOf, type ToldFacts, type ToldPool } from './pools-file.js'

export type LeftOut = { reason: string; detail: string; log: EvmLog }

/** `decoded`: how many events the logs tell, without the tokens and pools that only the file describes. */
export type Decoder = { decode(block: EvmBlock): { events: Event[]; decoded: number; leftOut: LeftOut[] } }

export function createDecoder(facts: ChainFacts, contracts: readonly KnownContract[], told: ToldFacts): Decoder {
  const rules = createRules({
    chain: facts.chain,
    scope: { pools: new Set(), tokens: new Set(), amms: new Set(), balances: 'off' },
    money: new Set(),
    protocols: PROTOCOLS,
    contracts,
    wrappedNative: facts.native,
  })
  const book = memoryBook()
  const prefetched = { ...nothingPrefetched(), tokens: told.tokens }

  return {
    decode(block) {
      const created = createdIn(block)
      const leftOut = block.logs.flatMap((log) => prepare(log, created) ?? [])
      const { events, lost } = decodeBlock(block, book, prefetched, rules)
      const fromLogs = events.filter(({ type }) => type !== 'token' && type !== 'pool')
      return { events, decoded: created.size + fromLogs.length, leftOut: [...leftOut, ...lost] }
    },
  }

  function createdIn({ logs }: EvmBlock): ReadonlySet<string> {
    return new Set(logs.flatMap((log) => orNull(() => createdVenue(log, rules))?.id ?? []))
  }

  /** Makes the venue of a log known, or says why it stays unknown. */
  function prepare(log: EvmLog, created: ReadonlySet<string>): LeftOut | undefined {
    const ref = orNull(() => venueRef(log, rules))
    if (ref === null || book.venue(ref.id) !== undefined || prefetched.venues.has(ref.id) || created.has(ref.id)) return
    const pool = told.pools.get(ref.id)
    // Of a pool of several tokens, pairs may be missing in the file.
    if (pool === undefined || Object.keys(pool.tokens).length < pool.tokens.length)
      return { reason: 'pool_undescribed', detail: ref.id, log }
    const name = protocolOf(pool, contracts)
    const protocol = name === undefined ? ref.candidates[0] : rules.protocolNamed(name)
    if (protocol === undefined) return { reason: 'protocol_unknown', detail: `${ref.id} (${pool.amm})`, log }
    const venue = venueOf(pool, protocol)
    prefetched.venues.set(ref.id, { venue, state: unanswered(protocol.readState(venue, rules.contracts)) })
  }
}

function venueOf({ id, amm, tokens, fee, creator }: ToldPool, { name }: Protocol): Venue {
  return { id, protocol: name, amm, tokens, fee, creator }
}

/** What is known where no node answers: nothing, said in the protocol's own terms. */
function unanswered<T>(reading: Reading<T>): T {
  let step = reading.next()
  while (!step.done) step = reading.next(step.value.map(() => null))
  return step.value
}

/** A log that is not what its topic says is told by `decodeBlock`, where it is ours. */
function orNull<T>(read: () => T | null): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof BadLog) return null
    throw error
  }
}
