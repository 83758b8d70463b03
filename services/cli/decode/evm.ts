/** Logs of an EVM chain → whole blocks → events. Tokens and pools come from a file instead of a node. */
import type { ChainFacts } from '../../core/domain/chains.js'
import type { KnownContract } from '../../core/domain/exchanges.js'
import type { Event } from '../../core/domain/records.js'
import { memoryBook } from '../../ingest/decode/evm/block/book.js'
import { decodeBlock } from '../../ingest/decode/evm/block/decode-block.js'
import { createdVenue, createRules, venueRef } from '../../ingest/decode/evm/block/decode-rules.js'
import { nothingPrefetched } from '../../ingest/decode/evm/block/prefetched.js'
import type { EvmBlock, EvmLog } from '../../ingest/decode/evm/log.js'
import { BadLog, type Protocol, type Reading } from '../../ingest/decode/evm/protocol.js'
import { PROTOCOLS } from '../../ingest/decode/evm/protocols.js'
import { BadShape, type RawLog, readLogs } from '../../ingest/decode/evm/raw-logs.js'
import type { Venue } from '../../ingest/decode/evm/venue.js'
import { badInput, type InputValue } from './input.js'
import { type DescribedFacts, type DescribedPool, protocolOf } from './pools-file.js'

export type SkippedLog = { reason: string; detail: string; log: EvmLog }

/** `decoded`: events decoded from logs, without tokens and pools that only the file describes. */
export type Decoder = { decode(block: EvmBlock): { events: Event[]; decoded: number; skipped: SkippedLog[] } }

export function createDecoder(
  facts: ChainFacts,
  contracts: readonly KnownContract[],
  described: DescribedFacts,
): Decoder {
  const rules = createRules({
    chain: facts.chain,
    scope: { pools: new Set(), tokens: new Set(), amms: new Set(), balances: 'off' },
    money: new Set(),
    protocols: PROTOCOLS,
    contracts,
    wrappedNative: facts.native,
  })
  const book = memoryBook()
  const prefetched = { ...nothingPrefetched(), tokens: described.tokens }

  return {
    decode(block) {
      const created = createdIn(block)
      const skipped = block.logs.flatMap((log) => prepare(log, created) ?? [])
      const { events, lost } = decodeBlock(block, book, prefetched, rules)
      const fromLogs = events.filter(({ type }) => type !== 'token' && type !== 'pool')
      return { events, decoded: created.size + fromLogs.length, skipped: [...skipped, ...lost] }
    },
  }

  function createdIn({ logs }: EvmBlock): ReadonlySet<string> {
    return new Set(logs.flatMap((log) => orNull(() => createdVenue(log, rules))?.id ?? []))
  }

  /** Adds the venue of a log from the file; returns the log where the file does not describe it. */
  function prepare(log: EvmLog, created: ReadonlySet<string>): SkippedLog | undefined {
    const ref = orNull(() => venueRef(log, rules))
    if (ref === null || book.venue(ref.id) !== undefined || prefetched.venues.has(ref.id) || created.has(ref.id)) return
    const pool = described.pools.get(ref.id)
    // The file may lack pairs of a pool of more than two tokens.
    if (pool === undefined || Object.keys(pool.tokens).length < pool.tokens.length)
      return { reason: 'pool_undescribed', detail: ref.id, log }
    const name = protocolOf(pool, contracts)
    const protocol = name === undefined ? ref.candidates[0] : rules.protocolNamed(name)
    if (protocol === undefined) return { reason: 'protocol_unknown', detail: `${ref.id} (${pool.amm})`, log }
    const venue = venueOf(pool, protocol)
    prefetched.venues.set(ref.id, { venue, state: unanswered(protocol.readState(venue, rules.contracts)) })
  }
}

function venueOf({ id, amm, tokens, fee, creator }: DescribedPool, { name }: Protocol): Venue {
  return { id, protocol: name, amm, tokens, fee, creator }
}

/** The state of a pool whose node answers nothing. */
function unanswered<T>(reading: Reading<T>): T {
  let step = reading.next()
  while (!step.done) step = reading.next(step.value.map(() => null))
  return step.value
}

/** `decodeBlock` reports malformed logs of known pools. */
function orNull<T>(read: () => T | null): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof BadLog) return null
    throw error
  }
}

/** `removed`: number of its logs removed by a reorg. */
export type InputBlock = { block: EvmBlock; removed: number }

/** Groups input values into whole blocks, in order. Only the current block is in memory. */
export async function* inputBlocks(values: AsyncIterable<InputValue>, name: string): AsyncGenerator<InputBlock> {
  let open: OpenBlock | undefined
  for await (const { value, line } of values) {
    for (const raw of inOrder(logsOf(value, line))) {
      const { blockNumber, blockHash } = raw.log
      if (open !== undefined && blockNumber > open.number) {
        yield close(open)
        open = undefined
      }
      open ??= { number: blockNumber, hash: blockHash, logs: new Map(), senders: new Map(), removed: 0 }
      if (blockNumber < open.number)
        throw badInput(name, line, `block ${blockNumber} comes after block ${open.number}; sort the lines by block`)
      if (blockHash !== open.hash)
        throw badInput(name, line, `block ${blockNumber} has two hashes, ${open.hash} and ${blockHash}`)
      add(open, raw, line)
    }
  }
  if (open !== undefined) yield close(open)

  function logsOf(value: unknown, line: number): RawLog[] {
    try {
      return readLogs(value)
    } catch (error) {
      throw error instanceof BadShape ? badInput(name, line, error.message) : error
    }
  }

  function add(block: OpenBlock, { log, from, removed }: RawLog, line: number): void {
    if (removed) {
      block.removed += 1
      return
    }
    const twin = block.logs.get(log.logIndex)
    if (twin !== undefined && JSON.stringify(twin) !== JSON.stringify(log))
      throw badInput(name, line, `block ${log.blockNumber} has two different logs ${log.logIndex}`)
    block.logs.set(log.logIndex, log)
    if (from !== undefined) block.senders.set(log.txHash, from)
  }
}

type OpenBlock = {
  number: number
  hash: string
  logs: Map<number, EvmLog>
  senders: Map<string, string>
  removed: number
}

/** One response may hold many blocks, in any order. */
function inOrder(logs: RawLog[]): RawLog[] {
  return logs.sort((a, b) => a.log.blockNumber - b.log.blockNumber || a.log.logIndex - b.log.logIndex)
}

function close({ number, hash, logs, senders, removed }: OpenBlock): InputBlock {
  const sorted = [...logs.values()].sort((a, b) => a.logIndex - b.logIndex)
  return { block: { number, hash, parentHash: '', timeS: 0, logs: sorted, senders }, removed }
}
