import type { ServeMetrics } from '../serve-metrics.js'
import type { Budgets, SocketBudget } from './budgets.js'
import type { Place } from './cursor.js'
import type { Hub, Subscription } from './hub.js'
import { byeText, subscriptionNotice } from './notices.js'
import { RpcError } from './rpc.js'
import type { Admitted, Refused } from './socket-access.js'
import type { PushSocket } from './transport/push-transport.js'

/** A subscription that is catching up, with its place in each chain. */
export type CatchUp = {
  subscription: Subscription
  places: Place[]
  snapshot: boolean
  /** False until it starts, and while its socket has too much unread. */
  isReplaying: boolean
  /** Unsubscribed, or its socket was closed. */
  isEnded: boolean
}

/** An open socket's state. */
export type Session = Admitted & {
  /** The socket's share of its key's budgets. */
  budget: SocketBudget
  /** By canonical params: the same params twice are one subscription. */
  subscriptions: Map<string, Subscription>
  /** Subscriptions that are still catching up. */
  catchingUp: Map<Subscription, CatchUp>
  /** Too slow: its conflating subscriptions are out of their groups until it has drained. */
  isSlow: boolean
  isClosed: boolean
}

/** Called once the socket is open, so that each counted socket is also closed. */
export function openSession(budgets: Budgets, admitted: Admitted | Refused): Session | Refused {
  if ('refusal' in admitted) return admitted
  const budget = openBudget(budgets, admitted)
  if ('refusal' in budget) return budget
  return { ...admitted, budget, subscriptions: new Map(), catchingUp: new Map(), isSlow: false, isClosed: false }
}

function openBudget(budgets: Budgets, { access }: Admitted): SocketBudget | Refused {
  try {
    return budgets.openSocket(access)
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return { refusal: error.message, code: error.code, data: error.data }
  }
}

/** False if the subscription was not catching up. */
export function endCatchUp({ catchingUp }: Pick<Session, 'catchingUp'>, subscription: Subscription): boolean {
  const catchUp = catchingUp.get(subscription)
  if (catchUp !== undefined) catchUp.isEnded = true
  return catchingUp.delete(subscription)
}

export function liveSubscriptions(session: Session): Subscription[] {
  return [...session.subscriptions.values()].filter((one) => !session.catchingUp.has(one))
}

/** Close code "Try Again Later": the client reads too slowly. */
const CLOSE_TOO_SLOW = 1013

export type SlowDeps = { hub: Hub; metrics: ServeMetrics }

/**
 * Stops sending to a socket until it has read everything. The transport's own limit is off because it silently drops messages.
 * Instead a slow socket leaves its groups and its pushes are merged; on topics that promise every push, it is closed.
 */
export function slowDown(deps: SlowDeps, socket: PushSocket, session: Session, reason: string): void {
  if (session.isSlow || session.isClosed) return
  const subscriptions = liveSubscriptions(session)
  if (subscriptions.some(({ onSlow }) => onSlow === 'disconnect')) {
    deps.metrics.socketsClosed.add('too_slow')
    socket.send(byeText(`Client too slow: ${reason}.`))
    socket.end(CLOSE_TOO_SLOW, 'too slow')
    return
  }
  session.isSlow = true
  deps.metrics.socketsSlowed.add('unread')
  for (const subscription of subscriptions) socket.unsubscribe(deps.hub.pause(subscription))
}

/** Called as the socket drains: once it has read everything, sends the merged pushes and resumes it. */
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
