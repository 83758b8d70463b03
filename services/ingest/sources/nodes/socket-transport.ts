/** JSON-RPC over one WebSocket: concurrent requests, and subscriptions. */
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

/** `onEnd`: the connection was lost, and the subscription with it. */
export type Listener = { onNotice(result: unknown): void; onEnd(): void }

export interface SocketTransport extends Transport {
  /** Calls the listener for every notification on this connection: resolves when subscribed, rejects if the node refuses. */
  subscribe(request: RpcRequest, listener: Listener, send: SendOptions): Promise<void>
}

type Waiting = {
  requests: readonly RpcRequest[]
  firstId: number
  settle(body: unknown): void
  fail(error: NodeFault): void
}
type Message = { id?: unknown; method?: unknown; params?: { subscription?: unknown; result?: unknown } }

/** A socket with its pending requests and subscriptions; the next socket may open before this one reports its end. */
class Connection {
  readonly waiting = new Map<number, Waiting>()
  readonly subscriptions = new Map<unknown, Listener>()
  messages = 0

  constructor(readonly socket: WebSocket) {}

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN
  }

  receive(data: Buffer): void {
    this.messages++
    let body: unknown
    try {
      body = JSON.parse(data.toString('utf8'))
    } catch {
      return
    }
    const first = (Array.isArray(body) ? body[0] : body) as Message | null | undefined
    if (typeof first?.method === 'string') {
      this.subscriptions.get(first.params?.subscription)?.onNotice(first.params?.result)
      return
    }
    // A batch is identified by any of its ids; an error about a whole batch may have none.
    const ids = Array.isArray(body) ? (body as Message[]).map((answer) => answer?.id) : [first?.id]
    const waiting = [...this.waiting.values()]
    const known = waiting.find(({ firstId, requests }) =>
      ids.some((id) => typeof id === 'number' && id >= firstId && id < firstId + requests.length),
    )
    const batches = waiting.filter(({ requests }) => requests.length > 1)
    const target = known ?? (ids.every((id) => id === null || id === undefined) ? batches[0] : undefined)
    target?.settle(body)
  }

  end(error: NodeFault): void {
    const all = [...this.waiting.values()]
    const ended = [...this.subscriptions.values()]
    this.waiting.clear()
    this.subscriptions.clear()
    for (const one of all) one.fail(error)
    for (const one of ended) one.onEnd()
  }
}

export function socketTransport(wire: Wire): SocketTransport {
  const { url, endpoint, maxAnswerBytes } = wire
  let current: Connection | undefined
  let opening: Promise<Connection> | undefined
  let nextId = 1
  let bytesReceived = 0
  let closed = false

  const fault = (kind: 'unavailable' | 'timeout', detail: string, cause?: unknown) =>
    new NodeFault({ kind, endpoint: endpoint.name, detail: endpoint.redact(detail), cause })

  function open(timeoutMs: number): Promise<Connection> {
    if (closed) return Promise.reject(fault('unavailable', 'closed'))
    if (current?.isOpen) return Promise.resolve(current)
    // A closing socket answers nothing more, and its close event may take long.
    current?.end(fault('unavailable', 'the socket is closing'))
    opening ??= connect(timeoutMs).finally(() => {
      opening = undefined
    })
    return opening
  }

  function connect(timeoutMs: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url, { maxPayload: maxAnswerBytes, handshakeTimeout: timeoutMs })
      const connection = new Connection(socket)
      socket.on('open', () => {
        current = connection
        resolve(connection)
      })
      socket.on('message', (data: Buffer) => {
        bytesReceived += data.length
        connection.receive(data)
      })
      // The close event that follows fails all pending requests.
      socket.on('error', (error) => reject(fault('unavailable', error.message, error)))
      socket.on('close', (code) => {
        const gone = fault('unavailable', `the socket was closed (${code})`)
        reject(gone)
        connection.end(gone)
      })
    })
  }

  /** `onOutcomes`: called before the next message is read. */
  async function exchange(
    requests: readonly RpcRequest[],
    { signal, timeoutMs }: SendOptions,
    onOutcomes?: (outcomes: readonly Outcome[], connection: Connection) => void,
  ): Promise<Outcome[]> {
    const connection = await open(timeoutMs)
    const { socket, waiting } = connection
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
      const stop = (): void => fail(fault('unavailable', 'request aborted'))
      const messagesBefore = connection.messages
      const timer = setTimeout(() => {
        fail(fault('timeout', `no response within ${timeoutMs / 1000} s`))
        // No message at all in that time: the connection is dead, whatever its state says.
        if (connection.messages === messagesBefore) socket.terminate()
      }, timeoutMs)
      const settle = (body: unknown): void => {
        end()
        try {
          const outcomes = readAnswer(body, requests, firstId, wire)
          onOutcomes?.(outcomes, connection)
          resolve(outcomes)
        } catch (error) {
          reject(error)
        }
      }
      waiting.set(firstId, { requests, firstId, settle, fail })
      signal.addEventListener('abort', stop, { once: true })
      if (signal.aborted) stop()
      else
        socket.send(encodeRequests(requests, firstId), (error) => {
          if (error) fail(fault('unavailable', error.message, error))
        })
    })
  }

  return {
    exchange: (requests, send) => exchange(requests, send),
    async subscribe(request, listener, send) {
      // The first notification may arrive together with the answer.
      const [outcome] = await exchange([request], send, ([answer], { subscriptions }) => {
        if (answer?.ok) subscriptions.set(answer.result, listener)
      })
      if (outcome === undefined || !outcome.ok) throw outcome?.fault ?? fault('unavailable', 'no answer')
    },
    get bytesReceived() {
      return bytesReceived
    },
    close() {
      closed = true
      // A socket that is still opening would never be closed.
      opening?.then(({ socket }) => socket.terminate()).catch(() => {})
      current?.socket.terminate()
    },
  }
}
