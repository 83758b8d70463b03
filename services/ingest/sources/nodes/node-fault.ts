/** What can be wrong with a node's answer, by what is to be done about it. */
import { DextapeError } from '../../../core/domain/errors.js'

export type FaultKind =
  /** No connection, a server's error, no JSON: elsewhere, or later. */
  | 'unavailable'
  | 'timeout'
  | 'rate_limited'
  /** The key or the plan does not allow it. */
  | 'denied'
  /** Fewer blocks, or fewer logs, must be asked for. */
  | 'too_wide'
  | 'too_many_addresses'
  | 'batch_refused'
  | 'unsupported'
  | 'invalid'
  | 'reverted'
  | 'pruned'
  /** Not there yet, or not any more. */
  | 'unknown_block'
  /** By the node's word there is no block of that number, and never will be. */
  | 'skipped'
  /** Its answers contradict what was asked, or each other. */
  | 'lies'
  | 'lags'
  /** Any other error the node tells of. */
  | 'node_error'

export type FaultDetails = {
  kind: FaultKind
  /** The endpoint's name for people. */
  endpoint: string
  detail: string
  retryAfterMs?: number | undefined
  /** What the node says it takes: blocks in a range, addresses in a filter, requests in a batch; `pruned`: the first block it has. */
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

/** Answers of a node that works: they ask for another request, and say nothing against the endpoint. */
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

/** Null where the answer is a fault of one of these kinds: then it is an answer too. */
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
