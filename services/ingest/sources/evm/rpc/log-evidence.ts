/**
 * Whether a node has the logs of the blocks it is asked about. One that has pruned their receipts, or does not have them yet, may answer
 * with an empty list (paradigmxyz/reth#21122, erigontech/erigon#16042). A bloom seldom says for sure that a filter's logs are in a
 * block; that the block has some log it does, so a node that tells of none has none.
 */
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { NodeFault } from '../../nodes/node-fault.js'
import { fillShare } from './bloom.js'
import type { FullHeader } from './check-headers.js'
import type { CompiledFilter } from './log-filter.js'
import { COUNTED_LOGS } from './wire.js'

/** `known`: by what it gave before; `found`: by a look at this very block. */
export type HasLogs = 'known' | 'found' | 'none'

export interface LogEvidence {
  /** It gave logs of this block: it has those of all later ones. */
  gave(endpoint: Endpoint, number: number): void
  /** `isSuspect`: whatever it gave before, this block is looked at. */
  of(endpoint: Endpoint, header: FullHeader, isSuspect: boolean, asking: Asking): Promise<HasLogs>
  /** What is wrong with a node that has none of a block's. */
  fault(endpoint: Endpoint, header: FullHeader): NodeFault
}

/** What is pruned moves on with the chain. */
const BELIEVED_MS = 600_000
/** Older than this, receipts that are not there are not late but gone. */
const RECENT_BLOCKS = 120
const ZEROS = /^0x0+$/

export function createLogEvidence(pool: EndpointPool, chain: string, nowMs: () => number): LogEvidence {
  const proofs = new WeakMap<Endpoint, { number: number; atMs: number }>()

  function isProven(endpoint: Endpoint, number: number): boolean {
    const proof = proofs.get(endpoint)
    return proof !== undefined && number >= proof.number && nowMs() - proof.atMs < BELIEVED_MS
  }

  function gave(endpoint: Endpoint, number: number): void {
    if (!isProven(endpoint, number)) proofs.set(endpoint, { number, atMs: nowMs() })
  }

  return {
    gave,
    async of(endpoint, header, isSuspect, asking) {
      if (header.number < endpoint.limits.logsFrom) return 'none'
      if (!isSuspect && isProven(endpoint, header.number)) return 'known'
      const request = { method: 'eth_getLogs', params: [{ blockHash: header.hash }], wanted: COUNTED_LOGS }
      const { signal, urgent } = asking
      const [outcome] = await endpoint.send([request], { signal, urgent, timeoutMs: pool.timeoutMs(asking) })
      const isNone = outcome?.ok ? isEmpty(outcome.result) : outcome?.fault.kind === 'pruned'
      if (isNone) return 'none'
      // Some nodes take no request without a filter: then nothing is known against them.
      gave(endpoint, header.number)
      return 'found'
    },
    fault(endpoint, { number }) {
      const isOld = endpoint.head !== null && number < endpoint.head.number - RECENT_BLOCKS
      if (isOld) endpoint.limits.logsFrom = Math.max(endpoint.limits.logsFrom, number + 1)
      const detail = `no logs of block ${number}, whose bloom has some`
      return new NodeFault({ kind: isOld ? 'pruned' : 'lags', endpoint: endpoint.name, detail, chain, block: number })
    },
  }
}

const isEmpty = (result: unknown): boolean => Array.isArray(result) && result.length === 0

/** Whether a block has logs, and may have some that pass. */
export function mayHaveLogs({ bloom, txCount }: FullHeader, filter: CompiledFilter): boolean {
  if (bloom === null || txCount === 0 || ZEROS.test(bloom) || !filter.mayPass(bloom)) return false
  // No block fills it: such a chain has no blooms.
  return fillShare(bloom) < 1
}
