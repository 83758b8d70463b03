/** What carries requests to one endpoint, and what both kinds of carrier do with an answer's text. */

import type { EndpointName } from './endpoint-name.js'
import { type FaultKind, NodeFault } from './node-fault.js'
import { objectOf, pickJson, type Wanted } from './pick-json.js'

/** `wanted`: of its answer, where much of it is of no use; more may come all the same. */
export type RpcRequest = { method: string; params: readonly unknown[]; wanted?: Wanted }

/** One request's: the result (null is one), or what went wrong. */
export type Outcome =
  | { ok: true; result: unknown }
  | { ok: false; fault: NodeFault; span?: { from: number; to: number } }

export type WireError = { code?: unknown; message?: unknown; data?: unknown }

export type ErrorContext = {
  method: string
  /** How many requests went together. */
  batch: number
  /** The error is about all of them, not about one. */
  isAboutAll?: boolean
  /** HTTP's, where there is one that is not 200. */
  status?: number | undefined
}

export type ErrorReading = { kind: FaultKind; detail: string; limit?: number; span?: { from: number; to: number } }

/** What a node of one family means by an error. */
export type ReadError = (error: WireError, context: ErrorContext) => ErrorReading

/** One endpoint, as its transport must know it. */
export type Wire = { url: string; endpoint: EndpointName; maxAnswerBytes: number; readError: ReadError }

export type SendOptions = { signal: AbortSignal; timeoutMs: number }

export interface Transport {
  /** Outcomes in the requests' order. Rejects with a `NodeFault` where nothing was answered at all. */
  exchange(requests: readonly RpcRequest[], options: SendOptions): Promise<Outcome[]>
  readonly bytesReceived: number
  close(): void
}

type Answering = Pick<Wire, 'endpoint' | 'readError'>
type WireAnswer = { id?: unknown; result?: unknown; error?: unknown }

export function encodeRequests(requests: readonly RpcRequest[], firstId: number): string {
  const wire = requests.map(({ method, params }, place) => ({ jsonrpc: '2.0', id: firstId + place, method, params }))
  return JSON.stringify(wire.length === 1 ? wire[0] : wire)
}

/** For a request's `wanted`. */
export const answerOf = (result: Wanted): Wanted =>
  objectOf({ id: 'whole', result, error: 'whole' }, ([id, told, error]): WireAnswer => ({ id, result: told, error }))

/** An answer's JSON, without what the requests do not want; undefined: it is none. */
export function parseAnswer(body: Buffer, requests: readonly RpcRequest[]): unknown {
  const wanted = requests[0]?.wanted
  try {
    if (wanted === undefined || requests.some((request) => request.wanted !== wanted))
      return JSON.parse(body.toString('utf8'))
    return pickJson(body, requests.length === 1 ? wanted : { items: wanted })
  } catch {
    return undefined
  }
}

/** Parses an answer once and gives each request its part. */
export function readAnswer(
  body: unknown,
  requests: readonly RpcRequest[],
  firstId: number,
  wire: Answering,
  status?: number,
): Outcome[] {
  const batch = requests.length
  if (batch === 1) return [outcomeOf(Array.isArray(body) ? body[0] : body, requests[0], wire, { status, batch })]
  if (!Array.isArray(body)) {
    const error = typeof body === 'object' && body !== null ? (body as WireAnswer).error : undefined
    const reading = wire.readError(errorOf(error ?? body), { method: 'batch', batch, isAboutAll: true, status })
    // One error for all of them is about the batch, unless it says otherwise.
    const kind = reading.kind === 'node_error' ? 'batch_refused' : reading.kind
    throw faultOf({ ...reading, kind }, wire.endpoint)
  }
  const byId = new Map((body as WireAnswer[]).map((answer) => [answer?.id, answer]))
  return requests.map((request, place) => outcomeOf(byId.get(firstId + place), request, wire, { batch }))
}

function outcomeOf(
  answer: unknown,
  request: RpcRequest | undefined,
  { endpoint, readError }: Answering,
  { status, batch }: { status?: number | undefined; batch: number },
): Outcome {
  const method = request?.method ?? ''
  if (typeof answer !== 'object' || answer === null) {
    const detail = answer === undefined ? 'no response to one request of a batch' : 'response is not JSON-RPC'
    return { ok: false, fault: new NodeFault({ kind: 'unavailable', endpoint: endpoint.name, detail }) }
  }
  const { result, error } = answer as WireAnswer
  if (error === undefined || error === null) {
    if (result !== undefined) return { ok: true, result }
    const detail = `neither result nor error for ${method}${status === undefined ? '' : ` (HTTP ${status})`}`
    return { ok: false, fault: new NodeFault({ kind: 'unavailable', endpoint: endpoint.name, detail }) }
  }
  const reading = readError(errorOf(error), { method, batch, status })
  const fault = faultOf(reading, endpoint)
  return reading.span === undefined ? { ok: false, fault } : { ok: false, fault, span: reading.span }
}

const errorOf = (error: unknown): WireError =>
  typeof error === 'object' && error !== null ? (error as WireError) : { message: String(error) }

function faultOf({ kind, detail, limit }: ErrorReading, endpoint: EndpointName): NodeFault {
  return new NodeFault({ kind, endpoint: endpoint.name, detail: endpoint.redact(detail), limit })
}
