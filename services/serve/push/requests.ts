import { cursorAt, type Place, parseCursor } from './cursor.js'
import type { Hub, Subscription } from './hub.js'
import { badParams } from './params.js'
import { RPC, RpcError, type RpcRequest } from './rpc.js'
import { endCatchUp, type Session } from './session.js'
import type { OnSlow, ParseContext, SubscriptionSpec, Topic } from './topic.js'
import type { PushSocket } from './transport/push-transport.js'
import { unknownIds } from './unknown-ids.js'

export type MethodDeps = {
  hub: Hub
  topics: ReadonlyMap<string, Topic>
  context: ParseContext
  /** The place after a chain's last push. */
  headOf: (chain: string) => Place
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
      throw new RpcError(RPC.unknownMethod, 'Unknown method. Known methods: subscribe, unsubscribe, ping.')
  }
}

function subscribe(deps: MethodDeps, socket: PushSocket, session: Session, request: RpcRequest): unknown {
  const { topic, spec, options } = readSubscription(deps, request.params)
  const canonical = keyOf(topic, spec)
  const { maxSubscriptionsPerSocket } = deps.context.limits
  if (session.isSlow)
    throw new RpcError(RPC.limitExceeded, 'Socket is too slow: read pending messages before subscribing to more.')
  const known = session.subscriptions.get(canonical)
  if (known === undefined && session.subscriptions.size >= maxSubscriptionsPerSocket) {
    throw new RpcError(RPC.limitExceeded, `Too many subscriptions: at most ${maxSubscriptionsPerSocket} per socket.`)
  }
  // Release what the replaced subscription holds before counting the new one.
  if (known !== undefined) drop(deps.hub, socket, session, known)
  session.budget.addSubscription(spec.channels)
  const subscription: Subscription = {
    topic: topic.name,
    canonical,
    id: request.id ?? null,
    spec,
    onSlow: options.onSlow ?? topic.onSlow,
    backlog: undefined,
    budget: session.budget,
  }
  session.subscriptions.set(subscription.canonical, subscription)
  if (options.since.length === 0 && !options.snapshot) socket.subscribe(deps.hub.add(subscription))
  else {
    // Catching up starts after the reply is sent.
    const places = placesOf(spec, options.since, deps.headOf)
    const { snapshot } = options
    session.catchingUp.set(subscription, { subscription, places, snapshot, isReplaying: false, isEnded: false })
  }
  const cursor = spec.chains.map((chain) => cursorAt(deps.headOf(chain)))
  return { status: 'ok', cursor, ...unknownIds(deps.context.chains, spec) }
}

function unsubscribe(deps: MethodDeps, socket: PushSocket, session: Session, request: RpcRequest): unknown {
  const all = Array.isArray(request.params) && request.params.length === 0
  const wanted = all ? undefined : readSubscription(deps, request.params)
  const key = wanted && keyOf(wanted.topic, wanted.spec)
  const ended = [...session.subscriptions.values()].filter((one) => all || one.canonical === key)
  for (const subscription of ended) drop(deps.hub, socket, session, subscription)
  return { status: 'ok', removed: ended.length }
}

/** kline and multi_kline of one series are two subscriptions. */
function keyOf(topic: Topic, spec: SubscriptionSpec): string {
  return `${topic.name}:${spec.canonical}`
}

function drop(hub: Hub, socket: PushSocket, session: Session, subscription: Subscription): void {
  session.subscriptions.delete(subscription.canonical)
  session.budget.removeSubscription(subscription.spec.channels)
  if (!endCatchUp(session, subscription)) socket.unsubscribe(hub.remove(subscription))
}

type Read = { topic: Topic; spec: SubscriptionSpec; options: Readonly<Options> }

function readSubscription({ topics, context }: MethodDeps, params: unknown): Read {
  if (!Array.isArray(params)) throw badParams('`params` must be an array that starts with a topic.')
  const [name] = params as unknown[]
  const topic = typeof name === 'string' ? topics.get(name) : undefined
  if (topic === undefined) throw badParams(`Unknown topic. Expected one of ${[...topics.keys()].join(', ')}.`)
  const last: unknown = params.at(-1)
  const hasOptions = typeof last === 'object' && last !== null && !Array.isArray(last)
  const options = hasOptions ? readOptions(last, context) : NO_OPTIONS
  return { topic, spec: topic.parse(params.slice(1, hasOptions ? -1 : undefined), context), options }
}

/** The optional last param of subscribe. */
export type Options = {
  onSlow?: OnSlow
  /** The last place read, one per chain. */
  since: Place[]
  snapshot: boolean
}

const KNOWN = 'since, snapshot, on_slow'
const NO_OPTIONS: Readonly<Options> = { since: [], snapshot: false }

/** Unknown options are rejected, never ignored. */
export function readOptions(given: object, context: ParseContext): Options {
  const options: Options = { since: [], snapshot: false }
  for (const [name, value] of Object.entries(given)) {
    if (name === 'on_slow') options.onSlow = readOnSlow(value)
    else if (name === 'snapshot') options.snapshot = readSnapshot(value)
    else if (name === 'since') options.since = readSince(value, context)
    else throw badParams(`Unknown option "${name.slice(0, 40)}". Known options: ${KNOWN}.`)
  }
  return options
}

/** The place each chain resumes from; a chain without a cursor starts at its head. */
export function placesOf(spec: SubscriptionSpec, since: readonly Place[], headOf: (chain: string) => Place): Place[] {
  return spec.chains.map((chain) => since.find((place) => place.chain === chain) ?? headOf(chain))
}

function readOnSlow(value: unknown): OnSlow {
  if (value === 'conflate' || value === 'disconnect') return value
  throw badParams('`on_slow` must be "conflate" or "disconnect".')
}

function readSnapshot(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw badParams('`snapshot` must be true or false.')
}

function readSince(value: unknown, { chains }: ParseContext): Place[] {
  const given: unknown[] = Array.isArray(value) ? value : [value]
  const places = given.map((text) => {
    const place = typeof text === 'string' ? parseCursor(text) : undefined
    if (place === undefined)
      throw badParams('`since` must be a cursor <epoch>:<chain>:<seq>:<n> or an array of cursors.')
    // Not an alias: cursors have the name of their chain.
    if (chains.market(place.chain)?.state.chain !== place.chain)
      throw badParams(`\`since\` names chain "${place.chain}", which is not indexed.`)
    return place
  })
  if (places.length > 1 && new Set(places.map(({ chain }) => chain)).size < places.length) {
    throw badParams('`since` takes one cursor per chain.')
  }
  return places
}
