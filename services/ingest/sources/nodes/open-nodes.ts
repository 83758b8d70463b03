/** Composes a chain's nodes: their endpoints and the pool that chooses among them. */
import { setMaxListeners } from 'node:events'
import { ConfigError } from '../../../core/domain/errors.js'
import { type Sleep, sleep as sleepFor } from '../../../core/runtime/backoff.js'
import type { Logger } from '../../../core/runtime/logger.js'
import { checkChain, type Identity } from './check-chain.js'
import { createEndpoint, type Endpoint } from './endpoint.js'
import { type EndpointName, endpointNames } from './endpoint-name.js'
import { createEndpointPool, type EndpointPool, type PatienceOptions } from './endpoint-pool.js'
import { type EndpointStatus, statusOf } from './endpoint-status.js'
import { httpTransport } from './http-transport.js'
import { createPace, type Pace } from './request-queue.js'
import { socketTransport } from './socket-transport.js'
import type { ReadError } from './transport.js'

export type NodesOptions = {
  chain: string
  /** http, https, ws or wss. */
  urls: readonly string[]
  /** Over all endpoints; each request of a batch counts. */
  maxRps?: number
  logger: Logger
  patience?: PatienceOptions
  timeoutMs?: number
  maxAnswerBytes?: number
  nowMs?: () => number
  random?: () => number
  sleep?: Sleep
}

/** What differs between chain families. */
export type NodesFamily = { readError: ReadError; maxInFlight: number }

export interface Nodes {
  readonly endpoints: readonly Endpoint[]
  readonly pool: EndpointPool
  readonly timeoutMs: number
  readonly nowMs: () => number
  readonly random: () => number
  readonly sleep: Sleep
  /** Checks that every endpoint serves this chain. */
  start(identity: Identity, signal: AbortSignal): Promise<void>
  status(): EndpointStatus[]
  /** A signal that also aborts on `close`. */
  live(signal: AbortSignal): AbortSignal
  close(): void
}

const DEFAULT_PATIENCE: PatienceOptions = { attempts: 10, ms: 60_000 }
const DEFAULT_TIMEOUT_MS = 20_000
const DEFAULT_MAX_ANSWER_BYTES = 128e6

export function openNodes(options: NodesOptions, family: NodesFamily): Nodes {
  const { chain, logger, nowMs = Date.now, random = Math.random, sleep = sleepFor } = options
  const { patience = DEFAULT_PATIENCE, timeoutMs = DEFAULT_TIMEOUT_MS } = options
  const closing = new AbortController()
  const chainPace = createPace(options.maxRps ?? Number.POSITIVE_INFINITY, nowMs)
  const endpoints = openEndpoints(options, family, { chainPace, nowMs, random })
  const pool = createEndpointPool({ chain, endpoints, patience, timeoutMs, nowMs, random, sleep })
  const lives = new WeakMap<AbortSignal, AbortSignal>()

  /** One per caller's signal: on Node 20, signals made by `any` live as long as their sources. */
  function live(signal: AbortSignal): AbortSignal {
    const known = lives.get(signal)
    if (known !== undefined) return known
    const both = AbortSignal.any([signal, closing.signal])
    // Every request under way listens to it.
    setMaxListeners(0, both)
    lives.set(signal, both)
    return both
  }

  return {
    ...{ endpoints, pool, timeoutMs, nowMs, random, sleep, live },
    start: (identity, signal) =>
      checkChain({ chain, identity, endpoints, timeoutMs, logger, random, sleep }, live(signal), closing.signal),
    status: () => endpoints.map(statusOf),
    close() {
      closing.abort()
      for (const endpoint of endpoints) endpoint.close()
    },
  }
}

function openEndpoints(
  { chain, urls, maxAnswerBytes = DEFAULT_MAX_ANSWER_BYTES }: NodesOptions,
  { readError, maxInFlight }: NodesFamily,
  shared: { chainPace: Pace; nowMs: () => number; random: () => number },
): Endpoint[] {
  if (urls.length === 0)
    throw new ConfigError({
      code: 'no_endpoint',
      what: 'no endpoint is configured',
      where: { chain },
      fix: 'Set at least one RPC URL.',
    })
  const names = endpointNames(urls)
  return urls.map((url, place) => {
    const name = names[place] as EndpointName
    const wire = { url, endpoint: name, maxAnswerBytes, readError }
    if (!/^wss?:/i.test(url)) return createEndpoint({ ...shared, name, maxInFlight, transport: httpTransport(wire) })
    const socket = socketTransport(wire)
    return createEndpoint({ ...shared, name, maxInFlight, transport: socket, socket })
  })
}
