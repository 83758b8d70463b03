import type { ServeMetrics } from '../metrics.js'
import type { Hub } from './hub.js'
import type { Session, Socket } from './session.js'

/** Try again later: the close code for who reads too slowly. */
const CLOSE_TOO_SLOW = 1013

export type SlowDeps = { hub: Hub; metrics: ServeMetrics; slowBytes: number }

/**
 * Looks at one socket's unsent bytes. The engine's own limit is off, for it skips messages without telling; instead a slow
 * socket leaves its groups and its pushes are merged, or, where order without holes was promised, it is closed.
 */
export function checkSlow(deps: SlowDeps, socket: Socket, session: Session): 'fine' | 'closed' {
  if (session.isSlow || socket.getBufferedAmount() <= deps.slowBytes) return 'fine'
  const subscriptions = [...session.subscriptions.values()]
  if (subscriptions.some(({ onSlow }) => onSlow === 'disconnect')) {
    deps.metrics.socketsClosed.add('too_slow')
    const reason = `More than ${deps.slowBytes} bytes were waiting to be read.`
    socket.send(JSON.stringify({ jsonrpc: '2.0', result: { topic: 'bye', reason } }))
    socket.end(CLOSE_TOO_SLOW, 'too slow')
    return 'closed'
  }
  session.isSlow = true
  for (const subscription of subscriptions) {
    subscription.backlog = { pushes: new Map(), merged: 0 }
    for (const group of deps.hub.groupsOf(subscription)) socket.unsubscribe(group)
  }
  return 'fine'
}

/** Called as the socket drains: once it has read everything it gets the merged pushes and is live again. */
export function resumeDrained(deps: SlowDeps, socket: Socket, session: Session): void {
  if (!session.isSlow || socket.getBufferedAmount() > 0) return
  session.isSlow = false
  socket.cork(() => {
    for (const subscription of session.subscriptions.values()) {
      const { backlog, id } = subscription
      subscription.backlog = undefined
      if (backlog === undefined) continue
      if (backlog.merged > 0) {
        const result = { topic: 'conflated', subscription: id, count: backlog.merged }
        socket.send(JSON.stringify({ id, jsonrpc: '2.0', result }))
      }
      for (const text of backlog.pushes.values()) socket.send(text)
      for (const group of deps.hub.groupsOf(subscription)) socket.subscribe(group)
    }
  })
}
