import { type Connection, createConnection } from './connection.js'
import { createRest, type Rest, type RestMethods, type RestOptions } from './rest.js'
import { createSubscription, type SubscribeOptions, type Subscription } from './subscription.js'
import type { SubscribeParams } from './topics.js'

export { DextapeError } from './errors.js'
export type * from './generated/interface.js'
export type { Answer, CallOptions, OperationName, Params, Result } from './rest.js'
export type { SubscribeOptions, Subscription } from './subscription.js'
export type {
  Conflated,
  Gap,
  Interval,
  Item,
  Refill,
  Started,
  SubscribeParams,
  SwitchMainPair,
  Topic,
} from './topics.js'

export type ClientOptions = RestOptions & {
  /** Wait before the first new attempt after a lost connection (250); doubles up to `maxBackoffMs` (15,000). */
  minBackoffMs?: number
  maxBackoffMs?: number
  /** Called before each wait: for logs. */
  onRetry?: (error: unknown, delayMs: number) => void
  /** Called each time a socket has opened. */
  onOpen?: () => void
}

/** A method per REST operation, `call` for an answer with its headers, and subscriptions. */
export type Client = RestMethods &
  Pick<Rest, 'call' | 'get'> & {
    subscribe<const P extends SubscribeParams>(params: P, options?: SubscribeOptions): Subscription<P[0]>
    /** Connects at once where the next attempt is waiting. */
    retryNow(): void
    /** Ends all subscriptions and closes the socket. */
    close(): void
  }

export function createClient(options: ClientOptions): Client {
  const { minBackoffMs = 250, maxBackoffMs = 15_000, onRetry = () => {}, onOpen = () => {} } = options
  const rest = createRest(options)
  const connections: Connection[] = []

  const freshUrl = async (signal: AbortSignal) => (await rest.methods.wsToken({}, { signal })).url
  const open = (): Connection => {
    const opened = createConnection({ freshUrl, minBackoffMs, maxBackoffMs, onRetry, onOpen })
    connections.push(opened)
    return opened
  }

  function subscribe<const P extends SubscribeParams>(params: P, given: SubscribeOptions = {}): Subscription<P[0]> {
    // The server takes the same params on one socket for one subscription.
    const connection = connections.find((one) => one.hasRoomFor(params)) ?? open()
    const deps = { get: rest.get, minBackoffMs, maxBackoffMs }
    const { feed, subscription } = createSubscription<P[0]>(params, given, connection, deps)
    connection.attach(feed)
    return subscription
  }

  return {
    ...rest.methods,
    ...{ call: rest.call, get: rest.get, subscribe },
    retryNow() {
      for (const connection of connections) connection.retryNow()
    },
    close() {
      for (const connection of connections) connection.close()
    },
  }
}
