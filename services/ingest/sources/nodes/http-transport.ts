/** JSON-RPC over HTTP: keep-alive connections, bounded responses, gzip unless the node is on this machine. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { basicCredentials } from './endpoint-name.js'
import { NodeFault } from './node-fault.js'
import { createBodies } from './received-bodies.js'
import {
  encodeRequests,
  type Outcome,
  parseAnswer,
  type RpcRequest,
  readAnswer,
  type SendOptions,
  type Transport,
  type Wire,
} from './transport.js'

const unzip = promisify(gunzip)

const MAX_SOCKETS = 32
const LOCAL = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** `body` must not be used after `release`. */
type Reply = { status: number; retryAfterMs: number | undefined; body: Buffer; release(): void }

export function httpTransport(wire: Wire): Transport {
  const { url, endpoint, maxAnswerBytes } = wire
  const target = new URL(url)
  const secure = target.protocol === 'https:'
  const agent = secure
    ? new HttpsAgent({ keepAlive: true, maxSockets: MAX_SOCKETS })
    : new HttpAgent({ keepAlive: true, maxSockets: MAX_SOCKETS, noDelay: true })
  const start = secure ? httpsRequest : httpRequest
  const options = {
    agent,
    method: 'POST',
    protocol: target.protocol,
    hostname: target.hostname.replace(/^\[|\]$/g, ''),
    port: target.port,
    path: `${target.pathname}${target.search}`,
  }
  const headers = {
    'content-type': 'application/json',
    ...(LOCAL.test(target.hostname) ? {} : { 'accept-encoding': 'gzip' }),
    ...authorization(target),
  }
  let bytesReceived = 0
  const bodies = createBodies()

  const fault = (kind: 'unavailable' | 'timeout' | 'too_wide', detail: string, cause?: unknown) =>
    new NodeFault({ kind, endpoint: endpoint.name, detail: endpoint.redact(detail), cause })

  function post(body: string, { signal, timeoutMs }: SendOptions): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const request = start({ ...options, headers: { ...headers, 'content-length': Buffer.byteLength(body) } })
      const timer = setTimeout(
        () => request.destroy(fault('timeout', `no response within ${timeoutMs / 1000} s`)),
        timeoutMs,
      )
      const stop = () => request.destroy(fault('unavailable', 'request aborted'))
      signal.addEventListener('abort', stop, { once: true })
      const end = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
      }
      request.on('error', (error: Error & { code?: string }) => {
        end()
        // The server had closed a keep-alive connection: nothing was received, and reads are safe to repeat.
        if (request.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted)
          post(body, { signal, timeoutMs }).then(resolve, reject)
        else reject(error instanceof NodeFault ? error : fault('unavailable', error.code ?? error.message, error))
      })
      request.on('response', (response) => {
        const received = bodies.open(Number(response.headers['content-length'] ?? 0))
        response.on('data', (chunk: Buffer) => {
          bytesReceived += chunk.length
          received.add(chunk)
          if (received.size > maxAnswerBytes) response.destroy(tooLarge())
        })
        response.on('error', (error: Error & { code?: string }) => {
          end()
          received.release()
          reject(
            error instanceof NodeFault ? error : fault('unavailable', `response cut off: ${error.code ?? 'error'}`),
          )
        })
        response.on('end', () => {
          end()
          inflate(response, received.bytes).then(
            (body) => {
              const { release } = received
              resolve({ status: response.statusCode ?? 0, retryAfterMs: retryAfterMs(response), body, release })
            },
            (error) => {
              received.release()
              reject(error)
            },
          )
        })
      })
      if (signal.aborted) stop()
      else request.end(body)
    })
  }

  const tooLarge = () => fault('too_wide', `response larger than ${Math.round(maxAnswerBytes / 1e6)} MB`)

  async function inflate(response: IncomingMessage, bytes: Buffer): Promise<Buffer> {
    if (response.headers['content-encoding'] !== 'gzip') return bytes
    return unzip(bytes, { maxOutputLength: maxAnswerBytes }).catch((error: { code?: string }) => {
      throw error.code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : fault('unavailable', 'corrupt gzip data')
    })
  }

  return {
    async exchange(requests, send): Promise<Outcome[]> {
      const reply = await post(encodeRequests(requests, 1), send)
      const { status, retryAfterMs } = reply
      const errorStatus = status === 200 ? undefined : status
      const parsed = parseAnswer(reply.body, errorStatus === undefined ? requests : [])
      const isRefused = parsed === undefined || (errorStatus !== undefined && !isRpc(parsed))
      const refused = isRefused ? refusal(wire, requests, reply) : undefined
      reply.release()
      if (refused !== undefined) throw refused
      try {
        const outcomes = readAnswer(parsed, requests, 1, wire, errorStatus)
        return outcomes.map((outcome) =>
          outcome.ok ? outcome : { ...outcome, fault: withRetryAfter(outcome.fault, retryAfterMs) },
        )
      } catch (error) {
        // One error for the whole batch.
        throw error instanceof NodeFault ? withRetryAfter(error, retryAfterMs) : error
      }
    },
    get bytesReceived() {
      return bytesReceived
    },
    close: () => agent.destroy(),
  }
}

const isRpc = (body: unknown): boolean =>
  Array.isArray(body) || (typeof body === 'object' && body !== null && ('error' in body || 'result' in body))

/** A response that is not JSON-RPC: a proxy's page, plain text. */
function refusal({ endpoint, readError }: Wire, requests: readonly RpcRequest[], reply: Reply): NodeFault {
  // Longer than what is kept: a secret cut in half would not be redacted.
  const text = reply.body.toString('utf8', 0, 2000).replace(/\s+/g, ' ')
  const context = { method: requests[0]?.method ?? '', batch: requests.length, isAboutAll: true, status: reply.status }
  const reading = readError({ message: text.slice(0, 200) }, context)
  const kind = reply.status === 200 || reading.kind === 'node_error' ? 'unavailable' : reading.kind
  const detail = endpoint.redact(`HTTP ${reply.status} ${text}`.trim())
  return new NodeFault({
    kind,
    endpoint: endpoint.name,
    detail,
    retryAfterMs: reply.retryAfterMs,
    limit: reading.limit,
  })
}

function withRetryAfter(fault: NodeFault, retryAfterMs: number | undefined): NodeFault {
  if (retryAfterMs === undefined || fault.kind !== 'rate_limited') return fault
  const { kind, endpoint, detail } = fault
  return new NodeFault({ kind, endpoint, detail, retryAfterMs })
}

/** Seconds, or a date. */
function retryAfterMs(response: IncomingMessage): number | undefined {
  const value = response.headers['retry-after']
  if (value === undefined) return undefined
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined
}

function authorization({ username, password, href }: URL): { authorization?: string } {
  if (username === '' && password === '') return {}
  return { authorization: `Basic ${basicCredentials(href)}` }
}
