/** Yields new heads: from notifications where there are any, else by polling. */
import { setMaxListeners } from 'node:events'
import { createBackoff, type Sleep } from '../../../core/runtime/backoff.js'
import type { Endpoint } from './endpoint.js'
import type { Asking, EndpointPool } from './endpoint-pool.js'
import { NodeFault } from './node-fault.js'
import type { SocketTransport } from './socket-transport.js'
import type { RpcRequest } from './transport.js'

export type HeadWatch<H> = {
  /** Its errors are the caller's to report and retry. */
  poll(signal: AbortSignal): Promise<H>
  /** Time until the next poll, unless a notification comes first. */
  pollMs(): number
  /** Equal keys mean equal heads. */
  keyOf(head: H): string | number
  /** Runs until the signal aborts. `report(null)`: the head may have changed; poll it. */
  listen(report: (head: H | null) => void, signal: AbortSignal): Promise<void>
  nowMs: () => number
  sleep: Sleep
}

/** An unchanged head is yielded again: on an idle chain nothing else would retry what came late, failed or was rejected. */
const AGAIN_MS = 2_000

/** Share of the chain's request limit that polling may use. */
const SHARE_OF_RPS = 0.25

/** Shortest polling interval under a limit of requests per second. */
export const rationedMs = (perS: number): number => (Number.isFinite(perS) ? 1000 / (perS * SHARE_OF_RPS) : 0)

export async function* watchHeads<H>(watch: HeadWatch<H>, signal: AbortSignal): AsyncGenerator<H> {
  const ended = new AbortController()
  const stop = AbortSignal.any([signal, ended.signal])
  setMaxListeners(0, stop)
  let wake = (): void => {}
  let reported: H | null = null
  /** A notification came that the loop has not handled. */
  let isDue = false
  const listening = watch.listen((head) => {
    if (head !== null) reported = head
    isDue = true
    wake()
  }, stop)
  const keyNow = (head: H): string => `${watch.keyOf(head)} ${Math.floor(watch.nowMs() / AGAIN_MS)}`
  let last: string | null = null
  try {
    while (!stop.aborted) {
      isDue = false
      const noticed: H | null = reported
      reported = null
      const head = noticed ?? (await polled())
      const key: string | null = head === null ? last : keyNow(head)
      if (head !== null && key !== last) {
        last = key
        yield head
      }
      if (!isDue && !stop.aborted) await pause()
    }
  } finally {
    ended.abort()
    await listening
  }

  async function polled(): Promise<H | null> {
    try {
      return await watch.poll(stop)
    } catch (error) {
      if (stop.aborted) return null
      throw error
    }
  }

  /** Until the next poll, or a notice. */
  async function pause(): Promise<void> {
    const early = new AbortController()
    wake = () => early.abort()
    // Not AbortSignal.any: on Node 20 each result lives as long as its sources.
    stop.addEventListener('abort', wake, { once: true })
    await watch.sleep(watch.pollMs(), early.signal)
    stop.removeEventListener('abort', wake)
    wake = () => {}
  }
}

/** All endpoints are asked once in this many calls, else only the best. */
const ASK_ALL_EVERY = 8
/** A slow endpoint must not delay the head. */
const ASK_TIMEOUT_MS = 3_000

export type Answered<T> = { endpoint: Endpoint; answer: T }

/** Asks every endpoint that can be asked now: comparing their heads shows which lag. Empty: not asked this time. */
export function createAskEvery<T>(
  pool: EndpointPool,
  ask: (endpoint: Endpoint, asking: Asking) => Promise<T>,
): (asking: Asking) => Promise<Answered<T>[]> {
  let times = 0
  return async (asking) => {
    if (pool.endpoints.length <= 1 || times++ % ASK_ALL_EVERY !== 0) return []
    const ready = pool.endpoints.filter((endpoint) => endpoint.health.usable && endpoint.waitMs() === 0)
    const answers = await Promise.allSettled(
      ready.map(async (endpoint) => ({
        endpoint,
        answer: await ask(endpoint, { ...asking, timeoutMs: ASK_TIMEOUT_MS }),
      })),
    )
    asking.signal.throwIfAborted()
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  }
}

export type NoticeOptions = {
  endpoints: readonly Endpoint[]
  request: RpcRequest
  timeoutMs: number
  sleep: Sleep
  random: () => number
  /** A notification is only a hint: a `NodeFault` thrown here skips it. */
  onNotice(endpoint: Endpoint, wire: unknown): void
}

/** Subscriptions on the endpoints' sockets, renewed after each connection loss until the signal aborts. */
export async function followNotices(options: NoticeOptions, signal: AbortSignal): Promise<void> {
  await Promise.all(options.endpoints.map((endpoint) => followOne(endpoint, options, signal)))
}

async function followOne(endpoint: Endpoint, options: NoticeOptions, signal: AbortSignal): Promise<void> {
  const { socket } = endpoint
  if (socket === undefined) return
  const backoff = createBackoff({ firstMs: 500, maxMs: 30_000, random: options.random, sleep: options.sleep })
  const onNotice = (wire: unknown): void => {
    backoff.reset()
    try {
      options.onNotice(endpoint, wire)
    } catch (error) {
      // Polling finds what the bad notification missed.
      if (!(error instanceof NodeFault)) throw error
    }
  }
  while (!signal.aborted) {
    try {
      if (endpoint.health.usable) await subscription(socket, options, onNotice, signal)
    } catch (error) {
      // A node without subscriptions is polled.
      if (!(error instanceof NodeFault) || error.kind === 'unsupported') return
    }
    await backoff.wait(signal)
  }
}

/** Resolves when it ends or the signal aborts; rejects if the node refuses it. */
function subscription(
  socket: SocketTransport,
  { request, timeoutMs }: NoticeOptions,
  onNotice: (wire: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const end = (): void => {
      signal.removeEventListener('abort', end)
      resolve()
    }
    signal.addEventListener('abort', end, { once: true })
    socket.subscribe(request, { onNotice, onEnd: end }, { signal, timeoutMs }).catch((error) => {
      signal.removeEventListener('abort', end)
      reject(error)
    })
  })
}
