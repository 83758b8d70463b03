/** Reads a chain through its endpoints: the parts of this folder put together. */
import { setMaxListeners } from 'node:events'
import { ConfigError } from '../../../../core/domain/errors.js'
import { type Sleep, sleep as sleepFor } from '../../../../core/runtime/backoff.js'
import type { Logger } from '../../../../core/runtime/logger.js'
import type { ChainReader, Header } from '../chain-reader.js'
import { checkChain } from './check-chain.js'
import { createEndpoint, type Endpoint } from './endpoint.js'
import { type EndpointName, endpointNames } from './endpoint-name.js'
import { type Asking, createEndpointPool } from './endpoint-pool.js'
import { createBlockFetcher } from './fetch-blocks.js'
import { createCallFetcher } from './fetch-calls.js'
import { createHeaderFetcher } from './fetch-headers.js'
import { createLogFetcher } from './fetch-logs.js'
import { createSenderFetcher } from './fetch-senders.js'
import { createHeadTracker } from './head-tracker.js'
import { followHeads } from './heads.js'
import { httpTransport } from './http-transport.js'
import { createListedSenders } from './listed-senders.js'
import { compileFilter } from './log-filter.js'
import { NodeFault } from './node-fault.js'
import { createPace, type Pace } from './pace.js'
import type { PatienceOptions } from './patience.js'
import { probeLimits } from './probe.js'
import { createReceiptWitness } from './receipt-witness.js'
import { socketTransport } from './socket-transport.js'
import { type EndpointStatus, statusOf } from './status.js'

export type ChainReaderOptions = {
  chain: string
  /** Undefined: the endpoints must only agree with each other. */
  chainId: number | undefined
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

export type RpcChainReader = ChainReader & {
  /** Checks that every endpoint is a node of this chain. */
  start(signal: AbortSignal): Promise<void>
  status(): EndpointStatus[]
  /** Asks every endpoint that answers for as much as it takes, so that its status tells. */
  probe(head: Header, signal: AbortSignal): Promise<void>
}

const DEFAULT_PATIENCE: PatienceOptions = { attempts: 10, ms: 60_000 }
const DEFAULT_TIMEOUT_MS = 20_000
const DEFAULT_MAX_ANSWER_BYTES = 128e6
const MAX_IN_FLIGHT = 16
/** What is asked about blocks this near to the head goes before history. */
const NEAR_HEAD_BLOCKS = 64
/** So often the same "no such block" is believed: less than a second, unless the nodes fail in other ways too. */
const GONE_PATIENCE: PatienceOptions = { attempts: 5, ms: 10_000 }

export function createChainReader(options: ChainReaderOptions): RpcChainReader {
  const { chain, logger, nowMs = Date.now, random = Math.random, sleep = sleepFor } = options
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
  const closing = new AbortController()
  const chainPace = createPace(options.maxRps ?? Number.POSITIVE_INFINITY, nowMs)
  const endpoints = openEndpoints(options, chainPace, nowMs, random)
  const pool = createEndpointPool({
    chain,
    endpoints,
    patience: options.patience ?? DEFAULT_PATIENCE,
    timeoutMs,
    nowMs,
    random,
    sleep,
  })
  const listed = createListedSenders()
  const headers = createHeaderFetcher(pool, chain, listed, nowMs, sleep)
  const logs = createLogFetcher(pool, chain, nowMs)
  const senders = createSenderFetcher(pool, chain, {
    isRationed: () => options.maxRps !== undefined || endpoints.some(({ perS }) => Number.isFinite(perS)),
    txCountOf: headers.txCountOf,
    listed,
    nowMs,
  })
  const blocks = createBlockFetcher({
    ...{ chain, headers, logs, listed, nowMs, sleep },
    wantsWhole: () => listed.isDense && senders.prefersBlocks,
    witness: createReceiptWitness(pool, chain),
  })
  const calls = createCallFetcher(pool, chain)
  const tracker = createHeadTracker(pool, headers, nowMs)

  const lives = new WeakMap<AbortSignal, AbortSignal>()
  /** One for each of the caller's signals: on Node 20 those made by `any` stay as long as what they listen to. */
  function live(signal: AbortSignal): AbortSignal {
    const known = lives.get(signal)
    if (known !== undefined) return known
    const both = AbortSignal.any([signal, closing.signal])
    // Every request under way listens to it.
    setMaxListeners(0, both)
    lives.set(signal, both)
    return both
  }
  const urgently = (signal: AbortSignal): Asking => ({ signal: live(signal), urgent: true })
  function about(number: number, signal: AbortSignal): Asking {
    const { highest } = tracker
    return { signal: live(signal), urgent: highest !== null && number > highest - NEAR_HEAD_BLOCKS }
  }

  return {
    start: (signal) =>
      checkChain(
        { chain, chainId: options.chainId, endpoints, timeoutMs, logger, random, sleep },
        live(signal),
        closing.signal,
      ),
    status: () => endpoints.map(statusOf),
    async probe(head, signal) {
      const ready = endpoints.filter((endpoint) => endpoint.health.healthy && endpoint.waitMs() === 0)
      await Promise.all(ready.map((one) => probeLimits(one, head.number, { signal: live(signal), timeoutMs })))
    },
    head: async (signal) => plain(await tracker.head(live(signal))),
    heads: (signal) =>
      followHeads(
        { chain, pool, tracker, timeoutMs, maxRps: options.maxRps, logger, nowMs, random, sleep },
        live(signal),
      ),
    headerByHash: (hash, signal) => orNull(headers.byHash(hash, { ...urgently(signal), patience: GONE_PATIENCE })),
    headerByNumber: (number, signal) =>
      orNull(headers.byNumber(number, { ...urgently(signal), patience: GONE_PATIENCE })),
    async finalized(signal) {
      const asking = { ...urgently(signal), patience: GONE_PATIENCE }
      try {
        const header = await pool.attempt(asking, (endpoint) => headers.byTag('finalized', endpoint, asking))
        return header?.number ?? null
      } catch (error) {
        if (error instanceof NodeFault && ['unsupported', 'invalid', 'unknown_block'].includes(error.kind)) return null
        throw error
      }
    },
    blocks: (from, to, filter, signal) => blocks.range(from, to, compileFilter(filter), about(from, signal)),
    block: (hash, filter, signal) => blocks.byHash(hash, compileFilter(filter), urgently(signal)),
    senders: (wanted, signal) => senders.senders(wanted, about(wanted[0]?.block.number ?? 0, signal)),
    call: (all, at, signal) => calls.call(all, at, about(at.number, signal)),
    async close() {
      closing.abort()
      for (const endpoint of endpoints) endpoint.close()
    },
  }
}

const plain = ({ number, hash, parentHash, timeS }: Header): Header => ({ number, hash, parentHash, timeS })

async function orNull(header: Promise<Header>): Promise<Header | null> {
  try {
    return plain(await header)
  } catch (error) {
    if (error instanceof NodeFault && error.kind === 'unknown_block') return null
    throw error
  }
}

function openEndpoints(
  options: ChainReaderOptions,
  chainPace: Pace,
  nowMs: () => number,
  random: () => number,
): Endpoint[] {
  if (options.urls.length === 0)
    throw new ConfigError({
      code: 'no_endpoint',
      what: 'the chain has no endpoint',
      where: { chain: options.chain },
      fix: 'Give at least one URL of a node.',
    })
  const names = endpointNames(options.urls)
  const maxAnswerBytes = options.maxAnswerBytes ?? DEFAULT_MAX_ANSWER_BYTES
  return options.urls.map((url, place) => {
    const name = names[place] as EndpointName
    const shared = { name, chainPace, maxInFlight: MAX_IN_FLIGHT, nowMs, random }
    if (!/^wss?:/i.test(url)) return createEndpoint({ ...shared, transport: httpTransport(url, name, maxAnswerBytes) })
    const socket = socketTransport(url, name, maxAnswerBytes)
    return createEndpoint({ ...shared, transport: socket, socket })
  })
}
