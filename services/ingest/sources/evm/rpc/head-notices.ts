/** Endpoints' own notices of new heads, over their sockets: subscribed anew after each loss, for as long as anybody listens. */
import { createBackoff, type Sleep } from '../../../../core/runtime/backoff.js'
import { blameOn } from '../../nodes/blame.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import { NodeFault } from '../../nodes/node-fault.js'
import type { SocketTransport } from '../../nodes/socket-transport.js'
import { type FullHeader, readHeader } from './check-headers.js'

export type NoticeOptions = {
  chain: string
  endpoints: readonly Endpoint[]
  timeoutMs: number
  sleep: Sleep
  random: () => number
  onHead(endpoint: Endpoint, header: FullHeader): void
}

const NEW_HEADS = { method: 'eth_subscribe', params: ['newHeads'] }

/** Runs until the signal aborts. */
export async function followNotices(options: NoticeOptions, signal: AbortSignal): Promise<void> {
  await Promise.all(options.endpoints.map((endpoint) => followOne(endpoint, options, signal)))
}

async function followOne(endpoint: Endpoint, options: NoticeOptions, signal: AbortSignal): Promise<void> {
  const { socket } = endpoint
  if (socket === undefined) return
  const backoff = createBackoff({ firstMs: 500, maxMs: 30_000, random: options.random, sleep: options.sleep })
  const onHead = (wire: unknown): void => {
    backoff.reset()
    tell(endpoint, wire, options)
  }
  while (!signal.aborted) {
    try {
      if (endpoint.health.usable) await subscription(socket, onHead, options.timeoutMs, signal)
    } catch (error) {
      // A node that has no subscriptions is polled.
      if (!(error instanceof NodeFault) || error.kind === 'unsupported') return
    }
    await backoff.wait(signal)
  }
}

/** Resolves when it ends, or the signal aborts; rejects where the node does not take it. */
function subscription(
  socket: SocketTransport,
  onHead: (wire: unknown) => void,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const end = (): void => {
      signal.removeEventListener('abort', end)
      resolve()
    }
    signal.addEventListener('abort', end, { once: true })
    const listener = { onNotice: onHead, onEnd: end }
    socket.subscribe(NEW_HEADS, listener, { signal, timeoutMs }).catch((error) => {
      signal.removeEventListener('abort', end)
      reject(error)
    })
  })
}

function tell(endpoint: Endpoint, wire: unknown, { chain, onHead }: NoticeOptions): void {
  try {
    onHead(endpoint, readHeader(wire, {}, blameOn(endpoint, chain)))
  } catch (error) {
    // A notice is only a hint; polling finds what it should have told.
    if (!(error instanceof NodeFault)) throw error
  }
}
