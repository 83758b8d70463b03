/** Subscriptions on the endpoints' sockets, renewed after each connection loss until the signal aborts. */
import { createBackoff, type Sleep } from '../../../core/runtime/backoff.js'
import type { Endpoint } from './endpoint.js'
import { NodeFault } from './node-fault.js'
import type { SocketTransport } from './socket-transport.js'
import type { RpcRequest } from './transport.js'

export type NoticeOptions = {
  endpoints: readonly Endpoint[]
  request: RpcRequest
  timeoutMs: number
  sleep: Sleep
  random: () => number
  /** A notification is only a hint: a `NodeFault` thrown here skips it. */
  onNotice(endpoint: Endpoint, wire: unknown): void
}

/** Runs until the signal aborts. */
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
