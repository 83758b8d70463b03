import type { ServeMetrics } from '../serve-metrics.js'
import type { Place } from './cursor.js'
import type { Hub, Subscription } from './hub.js'
import { byeText, subscriptionNotice } from './notices.js'
import { RPC } from './rpc.js'
import { type Admitted, type KeyUsage, type Refused, type SocketUsage, tooManySockets } from './socket-access.js'
import type { PushSocket } from './transport/push-transport.js'

/** A subscription on its way to live: where it stands in each of its chains. */
export type CatchUp = { subscription: Subscription; places: Place[]; snapshot: boolean }

/** An open socket's state. */
export type Session = Admitted & {
  /** Its share of what the key may hold over all its sockets. */
  usage: SocketUsage
  /** By what was spec for: the same params twice are one subscription. */
  subscriptions: Map<string, Subscription>
  /** Those that are still being brought up to date. */
  catchingUp: Map<Subscription, CatchUp>
  /** Reads too slowly: its conflating subscriptions are out of their groups until it has drained. */
  isSlow: boolean
}

/** Once the socket is open, so that each one counted is also closed. */
export function openSession(keyUsage: KeyUsage, admitted: Admitted | Refused): Session | Refused {
  if ('refusal' in admitted) return admitted
  const usage = keyUsage.openSocket(admitted.access)
  if (usage === undefined) return { refusal: tooManySockets(admitted.access), code: RPC.limitExceeded }
  return { ...admitted, usage, subscriptions: new Map(), catchingUp: new Map(), isSlow: false }
}

export function liveSubscriptions(session: Session): Subscription[] {
  return [...session.subscriptions.values()].filter((one) => !session.catchingUp.has(one))
}

/** Try again later: the close code for who reads too slowly. */
const CLOSE_TOO_SLOW = 1013

export type SlowDeps = { hub: Hub; metrics: ServeMetrics; slowBytes: number }

/**
 * Looks at one socket's unsent bytes. The engine's own limit is off, for it skips messages without telling; instead a slow
 * socket leaves its groups and its pushes are merged, or, where order without holes was promised, it is closed.
 */
export function checkIfSlow(deps: SlowDeps, socket: PushSocket, session: Session): 'fine' | 'closed' {
  if (session.isSlow || socket.getBufferedAmount() <= deps.slowBytes) return 'fine'
  const subscriptions = liveSubscriptions(session)
  if (subscriptions.some(({ onSlow }) => onSlow === 'disconnect')) {
    deps.metrics.socketsClosed.add('too_slow')
    socket.send(byeText(`More than ${deps.slowBytes} bytes were waiting to be read.`))
    socket.end(CLOSE_TOO_SLOW, 'too slow')
    return 'closed'
  }
  session.isSlow = true
  for (const subscription of subscriptions) socket.unsubscribe(deps.hub.pause(subscription))
  return 'fine'
}

/** Called as the socket drains: once it has read everything it gets the merged pushes and is live again. */
export function resumeIfDrained(deps: SlowDeps, socket: PushSocket, session: Session): void {
  if (!session.isSlow || socket.getBufferedAmount() > 0) return
  session.isSlow = false
  socket.cork(() => {
    for (const subscription of liveSubscriptions(session)) {
      const { backlog, id } = subscription
      if (backlog === undefined) continue
      if (backlog.merged > 0) {
        socket.send(subscriptionNotice({ topic: 'conflated', subscription: id, count: backlog.merged }))
      }
      for (const text of backlog.pushes.values()) socket.send(text)
      socket.subscribe(deps.hub.resume(subscription))
    }
  })
}
