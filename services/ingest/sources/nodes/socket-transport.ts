/** JSON-RPC over one WebSocket: requests side by side, and what the node tells by itself. */
import WebSocket from 'ws'
import { NodeFault } from './node-fault.js'
import {
  encodeRequests,
  type Outcome,
  type RpcRequest,
  readAnswer,
  type SendOptions,
  type Transport,
  type Wire,
} from './transport.js'

/** `onEnd`: the connection is lost, and the subscription with it. */
export type Listener = { onNotice(result: unknown): void; onEnd(): void }

export interface SocketTransport extends Transport {
  /** Calls for every notice of a subscription, on this connection: resolves when subscribed, rejects when the node refuses. */
  subscribe(request: RpcRequest, listener: Listener, send: SendOptions): Promise<void>
}

type Waiting = {
  requests: readonly RpcRequest[]
  firstId: number
  settle(body: unknown): void
  fail(error: NodeFault): void
}
type Message = { id?: unknown; method?: unknown; params?: { subscription?: unknown; result?: unknown } }

export function socketTransport(wire: Wire): SocketTransport {
  const { url, endpoint, maxAnswerBytes } = wire
  let socket: WebSocket | undefined
  let opening: Promise<WebSocket> | undefined
  let nextId = 1
  let bytesReceived = 0
  let messages = 0
  let closed = false
  const waiting = new Map<number, Waiting>()
  const subscriptions = new Map<unknown, Listener>()

  const fault = (kind: 'unavailable' | 'timeout', detail: string, cause?: unknown) =>
    new NodeFault({ kind, endpoint: endpoint.name, detail: endpoint.redact(detail), cause })

  function open(timeoutMs: number): Promise<WebSocket> {
    if (closed) return Promise.reject(fault('unavailable', 'closed'))
    if (socket?.readyState === WebSocket.OPEN) return Promise.resolve(socket)
    opening ??= new Promise<WebSocket>((resolve, reject) => {
      const fresh = new WebSocket(url, { maxPayload: maxAnswerBytes, handshakeTimeout: timeoutMs })
      fresh.on('open', () => {
        socket = fresh
        opening = undefined
        resolve(fresh)
      })
      fresh.on('message', (data: Buffer) => {
        bytesReceived += data.length
        messages++
        receive(data)
      })
      // The close that follows tells everybody.
      fresh.on('error', (error) => {
        opening = undefined
        reject(fault('unavailable', error.message, error))
      })
      fresh.on('close', (code) => {
        opening = undefined
        const gone = fault('unavailable', `the socket was closed (${code})`)
        reject(gone)
        if (socket === fresh) lose(gone)
      })
    })
    return opening
  }

  function lose(error: NodeFault): void {
    socket = undefined
    const all = [...waiting.values()]
    const ended = [...subscriptions.values()]
    waiting.clear()
    subscriptions.clear()
    for (const one of all) one.fail(error)
    for (const one of ended) one.onEnd()
  }

  function receive(data: Buffer): void {
    let body: unknown
    try {
      body = JSON.parse(data.toString('utf8'))
    } catch {
      return
    }
    const first = (Array.isArray(body) ? body[0] : body) as Message | null | undefined
    if (typeof first?.method === 'string') {
      subscriptions.get(first.params?.subscription)?.onNotice(first.params?.result)
      return
    }
    // A batch is known by any of its ids; an error about a whole batch may come without one.
    const ids = Array.isArray(body) ? (body as Message[]).map((answer) => answer?.id) : [first?.id]
    const known = [...waiting.values()].find(({ firstId, requests }) =>
      ids.some((id) => typeof id === 'number' && id >= firstId && id < firstId + requests.length),
    )
    const batches = [...waiting.values()].filter(({ requests }) => requests.length > 1)
    const target = known ?? (ids.every((id) => id === null || id === undefined) ? batches[0] : undefined)
    target?.settle(body)
  }

  /** `onOutcomes`: before the next message is read. */
  async function exchange(
    requests: readonly RpcRequest[],
    { signal, timeoutMs }: SendOptions,
    onOutcomes?: (outcomes: readonly Outcome[]) => void,
  ): Promise<Outcome[]> {
    const connection = await open(timeoutMs)
    const firstId = nextId
    nextId += requests.length
    return new Promise<Outcome[]>((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
        waiting.delete(firstId)
      }
      const fail = (error: NodeFault): void => {
        end()
        reject(error)
      }
      const stop = (): void => fail(fault('unavailable', 'the request was given up'))
      const heard = messages
      const timer = setTimeout(() => {
        fail(fault('timeout', `no answer within ${timeoutMs / 1000} s`))
        // Not a word in all that time: the connection is dead, whatever it says of itself.
        if (messages === heard) connection.terminate()
      }, timeoutMs)
      const settle = (body: unknown): void => {
        end()
        try {
          const outcomes = readAnswer(body, requests, firstId, wire)
          onOutcomes?.(outcomes)
          resolve(outcomes)
        } catch (error) {
          reject(error)
        }
      }
      waiting.set(firstId, { requests, firstId, settle, fail })
      signal.addEventListener('abort', stop, { once: true })
      if (signal.aborted) stop()
      else
        connection.send(encodeRequests(requests, firstId), (error) => {
          if (error) fail(fault('unavailable', error.message, error))
        })
    })
  }

  return {
    exchange: (requests, send) => exchange(requests, send),
    async subscribe(request, listener, send) {
      // The first notice may come in one piece with the answer.
      const [outcome] = await exchange([request], send, ([answer]) => {
        if (answer?.ok) subscriptions.set(answer.result, listener)
      })
      if (outcome === undefined || !outcome.ok) throw outcome?.fault ?? fault('unavailable', 'no answer')
    },
    get bytesReceived() {
      return bytesReceived
    },
    close() {
      closed = true
      // One that is still being opened would open for nobody.
      opening?.then((late) => late.terminate()).catch(() => {})
      socket?.terminate()
    },
  }
}
