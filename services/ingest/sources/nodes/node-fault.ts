/** Faults of a node's answers, by how to handle them. */
import { DextapeError } from '../../../core/domain/errors.js'

export type FaultKind =
  /** No connection, a server error, not JSON: try elsewhere, or later. */
  | 'unavailable'
  | 'timeout'
  | 'rate_limited'
  /** The key or the plan does not allow it. */
  | 'denied'
  /** Request fewer blocks or logs. */
  | 'too_wide'
  | 'too_many_addresses'
  | 'batch_refused'
  | 'unsupported'
  | 'invalid'
  | 'reverted'
  | 'pruned'
  /** Not there yet, or not any more. */
  | 'unknown_block'
  /** The node states that this number has no block and never will. */
  | 'skipped'
  /** Its answers contradict the request, or each other. */
  | 'lies'
  | 'lags'
  /** Any other error of the node. */
  | 'node_error'

export type FaultDetails = {
  kind: FaultKind
  /** The endpoint's display name. */
  endpoint: string
  detail: string
  retryAfterMs?: number | undefined
  /** The node's stated limit: blocks per range, addresses per filter, requests per batch; `pruned`: the first block it has. */
  limit?: number | undefined
  chain?: string
  block?: number
  cause?: unknown
}

const CODES: Partial<Record<FaultKind, string>> = {
  lies: 'node_lies',
  lags: 'node_lags',
  unknown_block: 'node_lags',
  pruned: 'state_pruned',
  denied: 'node_denies',
}

/** The nodes no longer have the state of that block. */
export const isPruned = (error: unknown): error is DextapeError =>
  error instanceof DextapeError && error.code === CODES.pruned

const WHATS: Partial<Record<FaultKind, string>> = {
  lies: 'returned inconsistent data',
  lags: 'lags behind the chain',
  unknown_block: 'does not have the block',
  pruned: 'has pruned the state of that block',
  denied: 'denied access',
  rate_limited: 'rate-limited the request',
  timeout: 'timed out',
  unavailable: 'is unreachable',
}

const FIXES: Partial<Record<FaultKind, string>> = {
  lies: 'If this continues, remove this endpoint from the configuration.',
  pruned: 'Add an archive node to the endpoints, or start later.',
  denied: 'Check the API key in the endpoint URL, or its token.',
}

export class NodeFault extends DextapeError {
  readonly kind: FaultKind
  readonly endpoint: string
  readonly detail: string
  readonly retryAfterMs: number | undefined
  readonly limit: number | undefined

  constructor({ kind, endpoint, detail, retryAfterMs, limit, chain, block, cause }: FaultDetails) {
    const fix = FIXES[kind]
    super({
      code: CODES[kind] ?? 'node_error',
      what: `the node ${endpoint} ${WHATS[kind] ?? 'returned an error'}`,
      retry: kind !== 'pruned',
      where: { ...(chain === undefined ? {} : { chain }), ...(block === undefined ? {} : { block }) },
      got: detail,
      ...(fix === undefined ? {} : { fix }),
      ...(cause === undefined ? {} : { cause }),
    })
    this.name = 'NodeFault'
    this.kind = kind
    this.endpoint = endpoint
    this.detail = detail
    this.retryAfterMs = retryAfterMs
    this.limit = limit
  }
}

/** Answers of a healthy node that require another request. */
const HARMLESS: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'too_wide',
  'too_many_addresses',
  'batch_refused',
  'unsupported',
  'invalid',
  'reverted',
  'pruned',
  'skipped',
])

export const isHarmless = (kind: FaultKind): boolean => HARMLESS.has(kind)

/** Null if it fails with a fault of one of these kinds, which are answers too. */
export async function orNull<T>(asked: Promise<T>, kinds: readonly FaultKind[]): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof NodeFault && kinds.includes(error.kind)) return null
    throw error
  }
}

/** Makes the fault with the endpoint's name in it. */
export type Blame = (
  kind: Extract<FaultKind, 'lies' | 'lags' | 'unknown_block'>,
  detail: string,
  block?: number,
) => Error

export const blameOn =
  (endpoint: { name: string }, chain: string): Blame =>
  (kind, detail, block) =>
    new NodeFault({ kind, endpoint: endpoint.name, detail, chain, ...(block === undefined ? {} : { block }) })
