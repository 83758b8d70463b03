/** JSON-RPC 2.0: parses requests and encodes replies. Independent of topics. */
export const RPC = {
  parse: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  badParams: -32602,
  internal: -32603,
  limitExceeded: -32005,
} as const

/** Thrown by methods for errors the client can fix. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    /** For programs: the `data` of the error. */
    readonly data?: Record<string, unknown>,
  ) {
    super(message)
    this.name = 'RpcError'
  }
}

export type RpcId = string | number | null

export type RpcRequest = {
  /** Undefined: a notification, which gets no reply. */
  id: RpcId | undefined
  method: string
  params: unknown
}

/** Runs one request; returns the result of the reply. */
export type RpcHandler = (request: RpcRequest) => unknown

/** Answers one text frame; undefined: no reply. */
export function answerFrame(text: string, maxBatch: number, handle: RpcHandler): string | undefined {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return errorReply(null, RPC.parse, 'Invalid JSON.')
  }
  if (!Array.isArray(message)) return answerOne(message, handle)
  if (message.length === 0) return errorReply(null, RPC.invalidRequest, 'Empty batch.')
  if (message.length > maxBatch) {
    return errorReply(null, RPC.limitExceeded, `Batch too large: at most ${maxBatch} requests, got ${message.length}.`)
  }
  const replies = message.flatMap((one) => answerOne(one, handle) ?? [])
  return replies.length === 0 ? undefined : `[${replies.join(',')}]`
}

function answerOne(message: unknown, handle: RpcHandler): string | undefined {
  const request = readRequest(message)
  if ('code' in request) return errorReply(request.id, request.code, request.message)
  try {
    const result = handle(request)
    return request.id === undefined ? undefined : resultReply(request.id, result)
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return request.id === undefined ? undefined : errorReply(request.id, error.code, error.message, error.data)
  }
}

function readRequest(message: unknown): RpcRequest | { id: RpcId; code: number; message: string } {
  const invalid = (id: RpcId, why: string) => ({ id, code: RPC.invalidRequest, message: why })
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    return invalid(null, 'A request must be an object.')
  }
  const { jsonrpc, method, params, id } = message as Record<string, unknown>
  if (id !== undefined && !isRpcId(id)) return invalid(null, ID_RULE)
  if (jsonrpc !== '2.0') return invalid(id ?? null, '`jsonrpc` must be "2.0".')
  if (typeof method !== 'string') return invalid(id ?? null, '`method` must be a string.')
  return { id, method, params }
}

/** The id is echoed in every push, so it must survive JSON and be short. */
const MAX_ID_LENGTH = 256
const ID_RULE = `\`id\` must be null, a number within ±2^53, or a string of at most ${MAX_ID_LENGTH} characters.`

function isRpcId(id: unknown): id is RpcId {
  if (typeof id === 'string') return id.length <= MAX_ID_LENGTH
  return id === null || (typeof id === 'number' && Math.abs(id) <= Number.MAX_SAFE_INTEGER)
}

export function resultReply(id: RpcId, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

export function errorReply(id: RpcId, code: number, message: string, data?: Record<string, unknown>): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } })
}
