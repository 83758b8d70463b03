/** What sends requests to one endpoint, and the parsing of responses shared by HTTP and WebSocket. */

import type { EndpointName } from './endpoint-name.js'
import { type FaultKind, NodeFault } from './node-fault.js'
import { objectOf, pickJson, type Wanted } from './pick-json.js'

/** `wanted`: the parts of the answer to parse; more may be returned. */
export type RpcRequest = { method: string; params: readonly unknown[]; wanted?: Wanted }

/** One request's result (null is a result) or fault. */
export type Outcome =
  | { ok: true; result: unknown }
  | { ok: false; fault: NodeFault; span?: { from: number; to: number } }

export type WireError = { code?: unknown; message?: unknown; data?: unknown }

export type ErrorContext = {
  method: string
  /** Requests in the batch. */
  batch: number
  /** The error is about the whole batch. */
  isAboutAll?: boolean
  /** HTTP status, if it is not 200. */
  status?: number | undefined
}

export type ErrorReading = { kind: FaultKind; detail: string; limit?: number; span?: { from: number; to: number } }

/** Classifies an error of one chain family's nodes. */
export type ReadError = (error: WireError, context: ErrorContext) => ErrorReading

/** What a transport needs to know of its endpoint. */
export type Wire = { url: string; endpoint: EndpointName; maxAnswerBytes: number; readError: ReadError }

export type SendOptions = { signal: AbortSignal; timeoutMs: number }

export interface Transport {
  /** Outcomes in the requests' order. Rejects with a `NodeFault` if there was no answer at all. */
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
  objectOf(
    { id: 'whole', result, error: 'whole' },
    ([id, picked, error]): WireAnswer => ({ id, result: picked, error }),
  )

/** The response's JSON with only the wanted parts; undefined if it is not JSON. */
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

/** Assigns each request its part of a response. */
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
    // One error for all requests is about the batch, unless it says otherwise.
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
