/** Headers by number or hash, verified; ranges of them linked by parent hashes. */

import type { Sleep } from '../../../../core/runtime/backoff.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { type Blame, blameOn, NodeFault } from '../../nodes/node-fault.js'
import type { Header } from '../chain-reader.js'
import { HEADER, WHOLE_BLOCK, type WireHeader } from './answer-shapes.js'
import { isHash, quantity, toQuantity } from './hex.js'
import { isBloom } from './log-filter.js'
import type { ListedSenders } from './sender-ways.js'

export interface HeaderFetcher {
  /** `whole`: with their transactions, whose senders are cached for later requests. */
  range(from: number, to: number, asking: Asking, whole?: boolean): Promise<FullHeader[]>
  byHash(hash: string, asking: Asking): Promise<FullHeader>
  byNumber(number: number, asking: Asking): Promise<FullHeader>
  /** `latest`, `finalized`: null if the node has none. */
  byTag(tag: string, endpoint: Endpoint, asking: Asking): Promise<FullHeader | null>
  /** Transaction count of a recently read block; null if not known (any more). */
  txCountOf(hash: string): number | null
}

/** A reorg between two requests of a range mixes headers of two forks: requesting again fixes it. */
const LINK_ATTEMPTS = 6
const LINK_PAUSE_MS = 100
const REMEMBERED_BLOCKS = 20_000

/** Whole blocks of a busy chain are a megabyte each. */
const WHOLE_BATCH = 10

export function createHeaderFetcher(
  pool: EndpointPool,
  chain: string,
  listed: ListedSenders,
  nowMs: () => number,
  sleep: Sleep,
): HeaderFetcher {
  const txCounts = new Map<string, number>()

  function remembered(header: FullHeader): FullHeader {
    if (header.txCount === null) return header
    if (txCounts.size >= REMEMBERED_BLOCKS) txCounts.clear()
    txCounts.set(header.hash, header.txCount)
    return header
  }

  async function unlinked(from: number, to: number, asking: Asking, whole = false): Promise<FullHeader[]> {
    const requests = Array.from({ length: to - from + 1 }, (_, place) => ({
      method: 'eth_getBlockByNumber',
      params: [toQuantity(from + place), whole],
      wanted: whole ? WHOLE_BLOCK : HEADER,
    }))
    return pool.ask(
      requests,
      (result, place, endpoint) => {
        const header = remembered(readHeader(result, { number: from + place }, blameOn(endpoint, chain)))
        if (whole) listed.keep(header.hash, (result as { transactions?: unknown }).transactions)
        return header
      },
      whole ? { ...asking, maxBatch: WHOLE_BATCH } : asking,
    )
  }

  return {
    async range(from, to, asking, whole) {
      for (let attempt = 1; ; attempt++) {
        const headers = await unlinked(from, to, asking, whole)
        const broken = brokenLink(headers)
        if (broken < 0) return headers
        if (attempt >= LINK_ATTEMPTS) throw notLinked(pool, chain, headers[broken])
        await sleep(LINK_PAUSE_MS * attempt, asking.signal)
        asking.signal.throwIfAborted()
      }
    },
    async byHash(hash, asking) {
      const [header] = await pool.ask(
        [{ method: 'eth_getBlockByHash', params: [hash, false], wanted: HEADER }],
        (result, _, endpoint) => remembered(readHeader(result, { hash }, blameOn(endpoint, chain))),
        asking,
      )
      return header as FullHeader
    },
    async byNumber(number, asking) {
      const [header] = await unlinked(number, number, asking)
      return header as FullHeader
    },
    async byTag(tag, endpoint, asking) {
      const sending = { signal: asking.signal, urgent: asking.urgent, timeoutMs: pool.timeoutMs(asking) }
      const startedMs = nowMs()
      const [outcome] = await endpoint.send([{ method: 'eth_getBlockByNumber', params: [tag, false] }], sending)
      if (outcome === undefined || !outcome.ok) throw outcome?.fault ?? new Error('an outcome is missing')
      if (outcome.result === null) return null
      try {
        return readHeader(outcome.result, {}, blameOn(endpoint, chain))
      } catch (error) {
        if (error instanceof NodeFault) endpoint.health.failed(error, startedMs)
        throw error
      }
    },
    txCountOf: (hash) => txCounts.get(hash) ?? null,
  }
}

function notLinked(pool: EndpointPool, chain: string, header: FullHeader | undefined): NodeFault {
  const endpoint = pool.endpoints.map(({ name }) => name).join(', ')
  const block = header?.number ?? 0
  const detail = `block ${block} does not link to block ${block - 1} after ${LINK_ATTEMPTS} attempts`
  return new NodeFault({ kind: 'lies', endpoint, detail, chain, block })
}

export type FullHeader = Header & {
  /** Null if the node returns none. */
  bloom: string | null
  /** Null if the response has no transaction list. */
  txCount: number | null
}

export function readHeader(result: unknown, asked: { number?: number; hash?: string }, blame: Blame): FullHeader {
  if (result === null) throw blame('unknown_block', `no block ${asked.hash ?? asked.number ?? ''}`.trim(), asked.number)
  const wire: WireHeader = typeof result === 'object' ? (result as WireHeader) : {}
  const number = quantity(wire.number)
  const timeS = quantity(wire.timestamp)
  const { hash, parentHash, logsBloom, transactions } = wire
  if (number === null || timeS === null || !isHash(hash) || !isHash(parentHash))
    throw blame('lies', 'header without number, hash, parent hash or timestamp', asked.number)
  if (asked.number !== undefined && number !== asked.number)
    throw blame('lies', `block ${number} returned for ${asked.number}`, asked.number)
  if (asked.hash !== undefined && hash.toLowerCase() !== asked.hash)
    throw blame('lies', `block ${hash} returned for ${asked.hash}`, number)
  return {
    number,
    hash: hash.toLowerCase(),
    parentHash: parentHash.toLowerCase(),
    timeS,
    bloom: isBloom(logsBloom) ? logsBloom : null,
    txCount: Array.isArray(transactions) ? transactions.length : null,
  }
}

/** Index of the first header whose parent is not the one before it; -1 if all are linked. */
export function brokenLink(headers: readonly Header[]): number {
  for (let place = 1; place < headers.length; place++)
    if (headers[place]?.parentHash !== headers[place - 1]?.hash) return place
  return -1
}
