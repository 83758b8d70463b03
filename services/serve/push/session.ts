import type { Access } from '../keys/key-gate.js'
import { cursorAt, type Place } from './cursor.js'
import type { Hub, Subscription } from './hub.js'
import type { SocketUsage } from './socket-access.js'
import { type Options, placesOf, readOptions } from './options.js'
import { badParams } from './params.js'
import { RPC, RpcError, type RpcRequest } from './rpc.js'
import type { Asked, ParseContext, Topic } from './topic.js'
import type { PushSocket } from './transport/push-transport.js'

/** A subscription on its way to live: where it stands in each of its chains. */
export type CatchUp = { subscription: Subscription; places: Place[]; snapshot: boolean }

/** Who opened a socket; the key's hash, to see whether it still may. */
export type Admitted = { access: Access; keyHash: string }
/** Told in one message before the close: browsers see nothing of an upgrade that is refused. */
export type Refused = { refusal: string; code: number }

/** An open socket's state. */
export type Session = Admitted & {
  /** Its share of what the key may hold over all its sockets. */
  usage: SocketUsage
  /** By what was asked for: the same params twice are one subscription. */
  subscriptions: Map<string, Subscription>
  /** Those that are still being brought up to date. */
  catchingUp: Map<Subscription, CatchUp>
  /** Reads too slowly: its conflating subscriptions are out of their groups until it has drained. */
  isSlow: boolean
}

export type MethodDeps = {
  hub: Hub
  topics: ReadonlyMap<string, Topic>
  context: Omit<ParseContext, 'access'>
  /** Where a chain's pushes stand. */
  headOf: (chain: string) => Place
}

export function liveSubscriptions(session: Session): Subscription[] {
  return [...session.subscriptions.values()].filter((one) => !session.catchingUp.has(one))
}

/** Runs one request of a socket. */
export function callMethod(deps: MethodDeps, socket: PushSocket, session: Session, request: RpcRequest): unknown {
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

function subscribe(deps: MethodDeps, socket: PushSocket, session: Session, request: RpcRequest): unknown {
  const { topic, asked, options } = readSubscription(deps, session, request.params)
  const { maxSubscriptionsPerSocket } = deps.context.limits
  if (session.isSlow) throw new RpcError(RPC.limitExceeded, 'Read what was sent before subscribing to more.')
  const known = session.subscriptions.get(keyOf(topic, asked))
  if (known === undefined && session.subscriptions.size >= maxSubscriptionsPerSocket) {
    throw new RpcError(RPC.limitExceeded, `A socket holds at most ${maxSubscriptionsPerSocket} subscriptions.`)
  }
  // The ids of the subscription it replaces are free before its own are counted.
  if (known !== undefined) drop(deps.hub, socket, session, known)
  session.usage.takeIds(asked.channels.length)
  const subscription: Subscription = {
    topic: topic.name,
    canonical: keyOf(topic, asked),
    id: request.id ?? null,
    asked,
    onSlow: options.onSlow ?? topic.onSlow,
    backlog: undefined,
  }
  session.subscriptions.set(subscription.canonical, subscription)
  if (options.since.length === 0 && !options.snapshot) socket.subscribe(deps.hub.add(subscription))
  else {
    // Begun once the reply is sent.
    const places = placesOf(asked, options.since, deps.headOf)
    session.catchingUp.set(subscription, { subscription, places, snapshot: options.snapshot })
  }
  return { status: 'ok', cursor: asked.chains.map((chain) => cursorAt(deps.headOf(chain))) }
}

function unsubscribe(deps: MethodDeps, socket: PushSocket, session: Session, request: RpcRequest): unknown {
  const all = Array.isArray(request.params) && request.params.length === 0
  const wanted = all ? undefined : readSubscription(deps, session, request.params)
  const key = wanted && keyOf(wanted.topic, wanted.asked)
  const ended = [...session.subscriptions.values()].filter((one) => all || one.canonical === key)
  for (const subscription of ended) drop(deps.hub, socket, session, subscription)
  return { status: 'ok', removed: ended.length }
}

/** kline and multi_kline of one series are two subscriptions. */
function keyOf(topic: Topic, asked: Asked): string {
  return `${topic.name}:${asked.canonical}`
}

function drop(hub: Hub, socket: PushSocket, session: Session, subscription: Subscription): void {
  session.subscriptions.delete(subscription.canonical)
  session.usage.releaseIds(subscription.asked.channels.length)
  if (!session.catchingUp.delete(subscription)) socket.unsubscribe(hub.remove(subscription))
}

type Read = { topic: Topic; asked: Asked; options: Options }

function readSubscription(deps: MethodDeps, { access }: Session, params: unknown): Read {
  if (!Array.isArray(params)) throw badParams('params must be an array that begins with a topic.')
  const [name, ...rest] = params as unknown[]
  const topic = typeof name === 'string' ? deps.topics.get(name) : undefined
  if (topic === undefined) throw badParams(`The topic must be one of ${[...deps.topics.keys()].join(', ')}.`)
  const context = { ...deps.context, access }
  const last = rest.at(-1)
  const hasOptions = typeof last === 'object' && last !== null && !Array.isArray(last)
  const options = readOptions(hasOptions ? last : {}, context)
  return { topic, asked: topic.parse(hasOptions ? rest.slice(0, -1) : rest, context), options }
}
