/**
 * Evidence that logs are complete and real. A node that has pruned a block's receipts, or does not have them yet, may
 * answer with an empty list (paradigmxyz/reth#21122, erigontech/erigon#16042). A bloom seldom proves that a filter's
 * logs are in a block, but it does prove that the block has some log, so a node that returns none lacks them.
 */
import type { EvmLog } from '../../../decode/evm/log.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { blameOn, NodeFault } from '../../nodes/node-fault.js'
import type { Wanted } from '../../nodes/pick-json.js'
import { COUNTED_LOGS, LOGS } from './answer-shapes.js'
import type { FullHeader } from './fetch-headers.js'
import { quantity } from './hex.js'
import { type CompiledFilter, fillShare } from './log-filter.js'

/** `known`: proven by earlier answers, or unprovable because the node refuses unfiltered requests; `unclear`: no answer. */
export type HasLogs = 'known' | 'none' | 'unclear'

export interface LogEvidence {
  /** Records that the node returned logs of this block, so it has those of all later ones. */
  gave(endpoint: Endpoint, number: number): void
  /** Requests the block's logs unless the node is known to have them. */
  of(endpoint: Endpoint, header: FullHeader, asking: Asking): Promise<HasLogs>
  /** All of the block's logs. `isSuspect`: request them even if the node is known to have them. */
  allOf(endpoint: Endpoint, header: FullHeader, isSuspect: boolean, asking: Asking): Promise<HasLogs | unknown[]>
  /** The fault of a node that lacks a block's logs. */
  fault(endpoint: Endpoint, header: FullHeader): NodeFault
}

/** Proofs expire, because pruning advances with the chain. */
const BELIEVED_MS = 600_000
/** Missing receipts of blocks older than this are pruned, not late. */
const RECENT_BLOCKS = 120
/** Up to this many failed requests in a row may be chance. */
const CHANCE_FAILURES = 5
const ZEROS = /^0x0+$/

export function createLogEvidence(pool: EndpointPool, chain: string, nowMs: () => number): LogEvidence {
  const proofs = new WeakMap<Endpoint, { number: number; atMs: number }>()
  const refusals = new WeakMap<Endpoint, number>()

  function isProven(endpoint: Endpoint, number: number): boolean {
    const proof = proofs.get(endpoint)
    return proof !== undefined && number >= proof.number && nowMs() - proof.atMs < BELIEVED_MS
  }

  function gave(endpoint: Endpoint, number: number): void {
    if (!isProven(endpoint, number)) proofs.set(endpoint, { number, atMs: nowMs() })
  }

  /** Some nodes refuse requests without a filter: then nothing can be proven against them. */
  function isRefused(endpoint: Endpoint): boolean {
    const times = (refusals.get(endpoint) ?? 0) + 1
    refusals.set(endpoint, times)
    return times > CHANCE_FAILURES
  }

  async function look(
    endpoint: Endpoint,
    { number, hash }: FullHeader,
    wanted: Wanted,
    asking: Asking,
  ): Promise<HasLogs | unknown[]> {
    if (number < endpoint.limits.logsFrom) return 'none'
    const request = { method: 'eth_getLogs', params: [{ blockHash: hash }], wanted }
    const { signal, urgent } = asking
    const [outcome] = await endpoint.send([request], { signal, urgent, timeoutMs: pool.timeoutMs(asking) })
    const list = outcome?.ok && Array.isArray(outcome.result) ? outcome.result : undefined
    if (list?.length === 0 || (outcome?.ok === false && outcome.fault.kind === 'pruned')) return 'none'
    if (list === undefined) return isRefused(endpoint) ? 'known' : 'unclear'
    refusals.delete(endpoint)
    gave(endpoint, number)
    return list
  }

  return {
    gave,
    async of(endpoint, header, asking) {
      if (isProven(endpoint, header.number)) return 'known'
      const seen = await look(endpoint, header, COUNTED_LOGS, asking)
      return Array.isArray(seen) ? 'known' : seen
    },
    async allOf(endpoint, header, isSuspect, asking) {
      if (!isSuspect && isProven(endpoint, header.number)) return 'known'
      return look(endpoint, header, LOGS, asking)
    },
    fault(endpoint, { number }) {
      const isOld = endpoint.head !== null && number < endpoint.head.number - RECENT_BLOCKS
      if (isOld) endpoint.limits.logsFrom = Math.max(endpoint.limits.logsFrom, number + 1)
      const detail = `no logs for block ${number} although its bloom is not empty`
      return new NodeFault({ kind: isOld ? 'pruned' : 'lags', endpoint: endpoint.name, detail, chain, block: number })
    },
  }
}

/** Whether a block has logs and some may match the filter. */
export function mayHaveLogs({ bloom, txCount }: FullHeader, filter: CompiledFilter): boolean {
  if (bloom === null || txCount === 0 || ZEROS.test(bloom) || !filter.mayPass(bloom)) return false
  // No real block fills its bloom: such a chain does not use blooms.
  return fillShare(bloom) < 1
}

/**
 * Some chains leave logs out of their blooms: Polygon's state-sync transactions, chains whose blooms are all zeros.
 * Such a log is accepted if its transaction's receipt has it too.
 */
export interface ReceiptWitness {
  /** Whether this chain was found not to use blooms. */
  trustsWithout(bloom: string): boolean
  /** False if a receipt lacks its log. */
  confirms(header: FullHeader, logs: readonly EvmLog[], asking: Asking): Promise<boolean>
}

type WireReceipt = { blockHash?: unknown; logs?: unknown }
type WireLog = { logIndex?: unknown; address?: unknown; topics?: unknown; data?: unknown } | null

/** After this many blocks with logs and an empty bloom, the chain is taken not to use blooms. */
const ENOUGH = 3

export function createReceiptWitness(pool: EndpointPool, chain: string): ReceiptWitness {
  let withoutBloom = 0
  return {
    trustsWithout: (bloom) => withoutBloom >= ENOUGH && ZEROS.test(bloom),
    async confirms(header, logs, asking) {
      const byTx = new Map<string, EvmLog[]>()
      for (const log of logs) byTx.set(log.txHash, [...(byTx.get(log.txHash) ?? []), log])
      const wanted = [...byTx]
      const found = await pool.ask(
        wanted.map(([txHash]) => ({ method: 'eth_getTransactionReceipt', params: [txHash] })),
        (result, place, endpoint) => {
          const [txHash, its] = wanted[place] as [string, EvmLog[]]
          if (result === null) throw blameOn(endpoint, chain)('lags', `no receipt for ${txHash}`, header.number)
          const { blockHash, logs: receiptLog } = result as WireReceipt
          const known = new Map(
            (Array.isArray(receiptLog) ? receiptLog : []).map((log: WireLog) => [quantity(log?.logIndex), log]),
          )
          return blockHash === header.hash && its.every((log) => isSame(log, known.get(log.logIndex)))
        },
        asking,
      )
      const confirmed = found.every((one) => one)
      if (confirmed && header.bloom !== null && ZEROS.test(header.bloom)) withoutBloom++
      return confirmed
    },
  }
}

function isSame({ address, topics, data }: EvmLog, receiptLog: WireLog | undefined): boolean {
  if (receiptLog === undefined || receiptLog === null) return false
  const text = (of: unknown[]) => of.join().toLowerCase()
  const theirs = [receiptLog.address, receiptLog.data, ...(Array.isArray(receiptLog.topics) ? receiptLog.topics : [])]
  return text(theirs) === text([address, data, ...topics])
}
