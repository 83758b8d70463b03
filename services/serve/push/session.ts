import type { WebSocket } from 'uWebSockets.js'
import type { Access } from '../keys/gate.js'
import type { Hub, Subscription } from './hub.js'
import { badParams } from './params.js'
import { RPC, RpcError, type RpcRequest } from './rpc.js'
import type { Asked, OnSlow, ParseContext, Topic } from './topic.js'

/** A socket's state; uWebSockets holds it as the socket's user data. */
export type Session = {
  access: Access
  /** By what was asked for: the same params twice are one subscription. */
  subscriptions: Map<string, Subscription>
  /** Reads too slowly: its conflating subscriptions are out of their groups until it has drained. */
  isSlow: boolean
}

export type Socket = WebSocket<SocketData>
export type SocketData = { session: Session | { refusal: string } }

export type MethodDeps = {
  hub: Hub
  topics: ReadonlyMap<string, Topic>
  context: ParseContext
  /** The cursor a chain stands at. */
  cursorAt: (chain: string) => string
}

/** Runs one request of a socket. */
export function callMethod(deps: MethodDeps, socket: Socket, session: Session, request: RpcRequest): unknown {
  switch (request.method) {
    case 'ping':
      return 'pong'
    case 'subscribe':
      return subscribe(deps, socket, session, request)
    case 'unsubscribe':
      return unsubscribe(deps, socket, session, request)
    default:
      throw new RpcError(RPC.unknownMethod, `Unknown method. Known: subscribe, unsubscribe, ping.`)
  }
}

function subscribe(deps: MethodDeps, socket: Socket, session: Session, request: RpcRequest): unknown {
  const { topic, asked, options } = readSubscription(deps, request.params)
  const { maxSubscriptionsPerSocket } = deps.context.limits
  if (session.isSlow) throw new RpcError(RPC.limitExceeded, 'Read what was sent before subscribing to more.')
  const known = session.subscriptions.get(asked.canonical)
  if (known === undefined && session.subscriptions.size >= maxSubscriptionsPerSocket) {
    throw new RpcError(RPC.limitExceeded, `A socket holds at most ${maxSubscriptionsPerSocket} subscriptions.`)
  }
  if (known !== undefined) drop(deps.hub, socket, session, known)
  const subscription: Subscription = {
    topic: topic.name,
    canonical: asked.canonical,
    id: request.id ?? null,
    channels: asked.channels,
    onSlow: options.onSlow ?? topic.onSlow,
    backlog: undefined,
  }
  session.subscriptions.set(asked.canonical, subscription)
  for (const group of deps.hub.add(subscription)) socket.subscribe(group)
  return { status: 'ok', cursor: asked.chains.map(deps.cursorAt) }
}

function unsubscribe(deps: MethodDeps, socket: Socket, session: Session, request: RpcRequest): unknown {
  const all = Array.isArray(request.params) && request.params.length === 0
  const canonical = all ? undefined : readSubscription(deps, request.params).asked.canonical
  const ended = [...session.subscriptions.values()].filter((one) => all || one.canonical === canonical)
  for (const subscription of ended) drop(deps.hub, socket, session, subscription)
  return { status: 'ok', removed: ended.length }
}

function drop(hub: Hub, socket: Socket, session: Session, subscription: Subscription): void {
  session.subscriptions.delete(subscription.canonical)
  const stillHeld = new Set([...session.subscriptions.values()].flatMap(hub.groupsOf))
  for (const group of hub.remove(subscription)) if (!stillHeld.has(group)) socket.unsubscribe(group)
}

function readSubscription(deps: MethodDeps, params: unknown): { topic: Topic; asked: Asked; options: Options } {
  if (!Array.isArray(params)) throw badParams('params must be an array that begins with a topic.')
  const [name, ...rest] = params as unknown[]
  const topic = typeof name === 'string' ? deps.topics.get(name) : undefined
  if (topic === undefined) throw badParams(`The topic must be one of ${[...deps.topics.keys()].join(', ')}.`)
  const last = rest.at(-1)
  const hasOptions = typeof last === 'object' && last !== null && !Array.isArray(last)
  const options = hasOptions ? readOptions(last) : {}
  return { topic, asked: topic.parse(hasOptions ? rest.slice(0, -1) : rest, deps.context), options }
}

type Options = { onSlow?: OnSlow }

/** The optional last object of params. What is not served is refused, never ignored. */
function readOptions(given: object): Options {
  const options: Options = {}
  for (const [name, value] of Object.entries(given)) {
    if (name !== 'on_slow') throw badParams(`The option "${name.slice(0, 40)}" is not served. Known: on_slow.`)
    if (value !== 'conflate' && value !== 'disconnect') throw badParams('on_slow must be "conflate" or "disconnect".')
    options.onSlow = value
  }
  return options
}
