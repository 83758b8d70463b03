/**
 * One socket for many subscriptions. It is open while there are any, and opened again after each loss, with backoff. Where each
 * subscription resumes is its own affair: a connection asks it for its request each time.
 */
import { DextapeError, rpcError } from './errors.js'
import { loadSocketClass, type Socket } from './socket.js'
import { type SubscribeParams, serverNameOf } from './topics.js'

/** A subscription as its connection sees it. */
export type Feed = {
  readonly params: SubscribeParams
  /** Params of the subscribe request, with `since` where it resumes. */
  request(): readonly unknown[]
  /** False while its consumer has to catch up first. */
  isWanted(): boolean
  acknowledge(reply: { cursor?: string[]; unknown?: string[] }): void
  receive(result: Record<string, unknown>): void
  /** True once the server has accepted it: a later refusal is retried. */
  isStarted(): boolean
  fail(error: unknown): void
  /** Ends its iterator and detaches it. */
  end(): void
}

export type Connection = {
  hasRoomFor(params: SubscribeParams): boolean
  attach(feed: Feed): void
  detach(feed: Feed): void
  /** Stops the pushes of a feed; `resume` asks for them again. */
  pause(feed: Feed): void
  resume(feed: Feed): void
  /** Ends the wait before the next attempt, if it waits for one. */
  retryNow(): void
  close(): void
}

export type ConnectionOptions = {
  /** A new address for each socket: a token opens only one. */
  freshUrl(signal: AbortSignal): Promise<string>
  minBackoffMs: number
  maxBackoffMs: number
  onRetry: (error: unknown, delayMs: number) => void
  onOpen: () => void
}

/** Limits of the server. */
const MAX_SUBSCRIPTIONS = 1000
const MAX_BATCH = 100
const MAX_FRAME_CHARACTERS = 60_000
/** A connection without any message for twice as long is taken for dead. */
const PING_MS = 20_000

type Request = { jsonrpc: '2.0'; method: string; params: readonly unknown[]; id?: number }
type Frame = {
  id?: unknown
  result?: Record<string, unknown> | string
  error?: { code: number; message: string }
}

export function createConnection(options: ConnectionOptions): Connection {
  const { freshUrl, minBackoffMs, maxBackoffMs, onRetry, onOpen } = options
  const feeds = new Map<Feed, { name: string; id: number | undefined; refusals: number }>()
  /** Each request has a new id: what still arrives for an earlier one is ignored. */
  const feedById = new Map<number, Feed>()
  let lastId = 0
  let outbox: Request[] = []
  let socket: Socket | undefined
  let hasConnected = false
  let attempt = 0
  let stopping = new AbortController()
  let isRunning = false
  let isWaiting = false

  function subscribe(feed: Feed): void {
    const state = feeds.get(feed)
    if (state === undefined || socket === undefined || !feed.isWanted()) return
    if (state.id !== undefined) feedById.delete(state.id)
    state.id = ++lastId
    feedById.set(state.id, feed)
    send({ jsonrpc: '2.0', method: 'subscribe', params: feed.request(), id: state.id })
  }

  function unsubscribe(feed: Feed): void {
    const state = feeds.get(feed)
    if (state?.id === undefined) return
    feedById.delete(state.id)
    state.id = undefined
    send({ jsonrpc: '2.0', method: 'unsubscribe', params: feed.params })
  }

  /** What one turn asks for goes out in few frames: plans limit frames, not requests. */
  function send(request: Request): void {
    if (socket === undefined) return
    if (outbox.push(request) === 1) queueMicrotask(flush)
  }

  function flush(): void {
    const requests = outbox
    outbox = []
    let batch: string[] = []
    let characters = 0
    const sendBatch = () => {
      if (batch.length > 0) socket?.send(`[${batch.join(',')}]`)
      batch = []
      characters = 0
    }
    for (const request of requests) {
      const text = JSON.stringify(request)
      if (batch.length === MAX_BATCH || characters + text.length > MAX_FRAME_CHARACTERS) sendBatch()
      batch.push(text)
      characters += text.length
    }
    sendBatch()
  }

  function take({ id, result, error }: Frame): void {
    const feed = typeof id === 'number' ? feedById.get(id) : undefined
    if (feed === undefined) return
    if (error !== undefined) refuse(feed, rpcError(error))
    else if (typeof result === 'object' && result.topic === undefined && Array.isArray(result.cursor)) {
      const state = feeds.get(feed)
      if (state !== undefined) state.refusals = 0
      attempt = 0
      feed.acknowledge(result as { cursor: string[]; unknown?: string[] })
    } else if (typeof result === 'object') feed.receive(result)
  }

  function refuse(feed: Feed, error: DextapeError): void {
    const state = feeds.get(feed)
    if (state === undefined) return
    if (state.id !== undefined) feedById.delete(state.id)
    state.id = undefined
    const canRetry = feed.isStarted() && (error.code === 'limit_exceeded' || error.isRetryable)
    if (!canRetry) return remove(feed, error)
    const delayMs = backoffMs(state.refusals++)
    onRetry(error, delayMs)
    const again = socket
    void pauseFor(delayMs, stopping.signal).then(() => socket === again && state.id === undefined && subscribe(feed))
  }

  function remove(feed: Feed, error?: unknown): void {
    unsubscribe(feed)
    feeds.delete(feed)
    if (error !== undefined) feed.fail(error)
    if (feeds.size > 0) return
    outbox = []
    socket = undefined
    stopping.abort()
  }

  /** Resolves or rejects when the socket is lost; resolves if it was closed here. */
  async function runSocket(signal: AbortSignal): Promise<void> {
    const SocketClass = await loadSocketClass()
    const url = await freshUrl(signal)
    if (signal.aborted) return
    const opened = new SocketClass(url)
    let refusal: DextapeError | undefined
    let heard = true
    let isPinged = false
    let pinging: ReturnType<typeof setInterval> | undefined
    const onAbort = () => opened.close(1000)
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => resolve())
        signal.addEventListener('abort', onAbort)
        opened.onopen = () => {
          socket = opened
          onOpen()
          for (const feed of feeds.keys()) subscribe(feed)
        }
        opened.onmessage = ({ data }) => {
          heard = true
          const frame = JSON.parse(String(data)) as Frame | Frame[]
          const frames = Array.isArray(frame) ? frame : [frame]
          const [{ id, error } = {}] = frames
          if (error !== undefined && id === undefined) {
            refusal = rpcError(error)
            return
          }
          hasConnected = true
          frames.forEach(take)
        }
        opened.onerror = () => {}
        opened.onclose = ({ code, reason }) =>
          reject(refusal ?? new DextapeError('closed', `The socket was closed (${code}${reason ? ` ${reason}` : ''}).`))
        pinging = setInterval(() => {
          if (!heard && isPinged) {
            reject(new DextapeError('timeout', `The socket was silent for ${(2 * PING_MS) / 1000} s.`))
            return
          }
          isPinged = !heard
          heard = false
          if (isPinged) socket?.send('{"jsonrpc":"2.0","method":"ping","id":0}')
        }, PING_MS)
      })
    } finally {
      clearInterval(pinging)
      signal.removeEventListener('abort', onAbort)
      opened.onopen = opened.onmessage = opened.onclose = null
      opened.close()
      socket = undefined
      outbox = []
      feedById.clear()
      for (const state of feeds.values()) state.id = undefined
    }
  }

  async function run(): Promise<void> {
    isRunning = true
    while (feeds.size > 0) {
      stopping = new AbortController()
      const { signal } = stopping
      try {
        await runSocket(signal)
      } catch (error) {
        if (feeds.size === 0) break
        if (isFatal(error, hasConnected)) {
          for (const feed of [...feeds.keys()]) remove(feed, error)
          break
        }
        const delayMs = Math.max(backoffMs(attempt++), (error as Partial<DextapeError>).retryAfterMs ?? 0)
        onRetry(error, delayMs)
        isWaiting = true
        await pauseFor(delayMs, signal)
        isWaiting = false
      }
    }
    isRunning = false
  }

  /** Half of it is random, so that clients of a restarted server do not come back at once. */
  function backoffMs(failures: number): number {
    const whole = Math.min(maxBackoffMs, minBackoffMs * 2 ** Math.min(failures, 16))
    return whole / 2 + (Math.random() * whole) / 2
  }

  return {
    hasRoomFor(params) {
      const name = serverNameOf(params)
      return feeds.size < MAX_SUBSCRIPTIONS && [...feeds.values()].every((state) => state.name !== name)
    },
    attach(feed) {
      feeds.set(feed, { name: serverNameOf(feed.params), id: undefined, refusals: 0 })
      if (!isRunning) void run()
      else subscribe(feed)
    },
    detach: (feed) => {
      if (feeds.has(feed)) remove(feed)
    },
    pause: unsubscribe,
    resume: subscribe,
    retryNow() {
      if (isWaiting) stopping.abort()
    },
    close() {
      for (const feed of [...feeds.keys()]) feed.end()
    },
  }
}

/** A new attempt cannot help. Once connected, a refused socket is retried: its token request shows if the key is still valid. */
function isFatal(error: unknown, hasConnected: boolean): boolean {
  if (!(error instanceof DextapeError)) return true
  if (error.isRetryable) return false
  return !(hasConnected && error.status === undefined && ['key_invalid', 'limit_exceeded'].includes(error.code))
}

/** Ends early when aborted. */
export function pauseFor(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, delayMs)
    signal.addEventListener('abort', end)
  })
}
