/** Logs of a block range, split to each endpoint's limits, or of single blocks by hash. */
import type { EvmLog } from '../../../decode/evm/log.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { type Blame, blameOn, NodeFault } from '../../nodes/node-fault.js'
import type { Outcome } from '../../nodes/transport.js'
import { LOGS, type WireLog } from './answer-shapes.js'
import { readLogs } from './check-logs.js'
import { toQuantity } from './hex.js'
import type { CompiledFilter } from './log-filter.js'

/** The logs of one range response, in order. */
export type LogPiece = { from: number; to: number; logs: EvmLog[]; by: readonly Endpoint[] }

export type AnsweredLogs = { logs: EvmLog[]; by: Endpoint }

export interface LogFetcher {
  range(from: number, to: number, filter: CompiledFilter, asking: Asking): Promise<LogPiece[]>
  /** By block, with the endpoint that answered. */
  byHash(hashes: readonly string[], filter: CompiledFilter, asking: Asking): Promise<AnsweredLogs[]>
}

const MAX_BATCH = 50

/** Unrecognised errors for one request; a single one may be an accident. */
type Troubles = { count: number }
const TROUBLES = 2

type Step = { logs: EvmLog[]; by: Endpoint } | { span: number } | { addresses: number }

export function createLogFetcher(pool: EndpointPool, chain: string, nowMs: () => number): LogFetcher {
  function params(addresses: readonly string[], filter: CompiledFilter, blocks: object): unknown[] {
    return [{ ...blocks, ...(addresses.length === 0 ? {} : { address: addresses }), topics: filter.topicParams }]
  }

  async function step(
    endpoint: Endpoint,
    { from, to }: { from: number; to: number },
    addresses: readonly string[],
    filter: CompiledFilter,
    asking: Asking,
    troubles: Troubles,
  ): Promise<Step> {
    const asked = to - from + 1
    const { limits } = endpoint
    if (from < limits.logsFrom) throw withoutLogs(endpoint, chain, from)
    if (asked > limits.span) return { span: limits.span }
    if (addresses.length > limits.addresses) return { addresses: limits.addresses }
    const startedMs = nowMs()
    const blocks = { fromBlock: toQuantity(from), toBlock: toQuantity(to) }
    const [outcome] = await endpoint.send(
      [{ method: 'eth_getLogs', params: params(addresses, filter, blocks), wanted: LOGS }],
      { signal: asking.signal, urgent: asking.urgent, timeoutMs: pool.timeoutMs(asking) },
    )
    if (outcome === undefined) throw new Error('an outcome is missing')
    if (!outcome.ok) return less(outcome, endpoint, asked, addresses.length, troubles)
    try {
      const logs = readLogs(outcome.result, { from, to }, filter, blameOn(endpoint, chain))
      limits.spanWorked(asked)
      return { logs, by: endpoint }
    } catch (error) {
      if (error instanceof NodeFault) endpoint.health.failed(error, startedMs)
      throw error
    }
  }

  async function piecesOf(
    from: number,
    to: number,
    addresses: readonly string[],
    filter: CompiledFilter,
    asking: Asking,
  ): Promise<LogPiece[]> {
    const troubles = { count: 0 }
    const done = await pool.attempt(asking, (endpoint) =>
      step(endpoint, { from, to }, addresses, filter, asking, troubles),
    )
    if ('logs' in done) return [{ from, to, logs: done.logs, by: [done.by] }]
    if ('span' in done) {
      const parts: Promise<LogPiece[]>[] = []
      for (let first = from; first <= to; first += done.span)
        parts.push(piecesOf(first, Math.min(to, first + done.span - 1), addresses, filter, asking))
      return (await Promise.all(parts)).flat()
    }
    const parts: Promise<LogPiece[]>[] = []
    for (let first = 0; first < addresses.length; first += done.addresses)
      parts.push(piecesOf(from, to, addresses.slice(first, first + done.addresses), filter, asking))
    return [merged(from, to, (await Promise.all(parts)).flat())]
  }

  return {
    range: (from, to, filter, asking) => piecesOf(from, to, filter.addresses, filter, asking),
    byHash: (hashes, filter, asking) => {
      // A single block cannot be split: a filter too long for a node is dropped and applied here instead.
      const longest = Math.min(...pool.endpoints.map(({ limits }) => limits.addresses))
      const addresses = filter.addresses.length > longest ? [] : filter.addresses
      return pool.ask(
        hashes.map((hash) => ({
          method: 'eth_getLogs',
          params: params(addresses, filter, { blockHash: hash }),
          wanted: LOGS,
        })),
        (result, place, endpoint) => {
          const hash = hashes[place] as string
          const read = addresses === filter.addresses ? readAll : readPassing
          return { logs: read(result, hash, filter, blameOn(endpoint, chain)), by: endpoint }
        },
        { ...asking, maxBatch: MAX_BATCH },
      )
    },
  }
}

/** The smaller request to try instead; throws the fault if a smaller one would not help. */
function less(
  outcome: Outcome & { ok: false },
  endpoint: Endpoint,
  asked: number,
  addresses: number,
  troubles: Troubles,
): Step {
  const { fault, span } = outcome
  const { limits } = endpoint
  if (fault.kind === 'too_many_addresses' && addresses > 1) {
    limits.tooManyAddresses(addresses, fault.limit)
    return { addresses: Math.max(1, Math.min(addresses - 1, limits.addresses)) }
  }
  if (asked === 1) throw asTrouble(fault)
  if (fault.kind === 'too_wide') {
    limits.tooWide(asked, fault.limit, span === undefined ? undefined : span.to - span.from + 1)
    return { span: Math.min(asked - 1, limits.span) }
  }
  // A timeout or an unrecognised error may mean that the request was too large.
  const isTooMuch = fault.kind === 'timeout' || (fault.kind === 'node_error' && ++troubles.count >= TROUBLES)
  if (isTooMuch) limits.tooWide(asked, undefined, undefined)
  if (isTooMuch || fault.kind === 'invalid') return { span: Math.ceil(asked / 2) }
  throw fault
}

function withoutLogs({ name, limits }: Endpoint, chain: string, block: number): NodeFault {
  const detail = `no logs before block ${limits.logsFrom}`
  return new NodeFault({ kind: 'pruned', endpoint: name, detail, chain, block })
}

/** One block is the smallest request: an endpoint that refuses it has a general error. */
function asTrouble(fault: NodeFault): NodeFault {
  if (fault.kind !== 'too_wide' && fault.kind !== 'too_many_addresses') return fault
  return new NodeFault({ kind: 'node_error', endpoint: fault.endpoint, detail: fault.detail })
}

/** Several filters' logs of the same blocks, in the chain's order. */
function merged(from: number, to: number, pieces: readonly LogPiece[]): LogPiece {
  const logs = pieces.flatMap((piece) => piece.logs)
  logs.sort((one, other) => one.blockNumber - other.blockNumber || one.logIndex - other.logIndex)
  return { from, to, logs, by: [...new Set(pieces.flatMap(({ by }) => by))] }
}

const readAll = (result: unknown, hash: string, filter: CompiledFilter, blame: Blame): EvmLog[] =>
  readLogs(result, { from: 0, to: Number.MAX_SAFE_INTEGER, hash }, filter, blame)

/** Reads a block's unfiltered logs and keeps those that match. */
export function readPassing(result: unknown, hash: string, filter: CompiledFilter, blame: Blame): EvmLog[] {
  const passing = Array.isArray(result) ? result.filter((log: WireLog | null) => mayPass(log, filter)) : result
  return readAll(passing, hash, filter, blame)
}

function mayPass(log: WireLog | null, filter: CompiledFilter): boolean {
  const topic: unknown = Array.isArray(log?.topics) ? log.topics[0] : undefined
  return (
    (typeof log?.address !== 'string' || filter.address(log.address.toLowerCase()) !== undefined) &&
    filter.topic(typeof topic === 'string' ? topic.toLowerCase() : undefined) !== undefined
  )
}
