/** New heads: by subscription where a node supports it, else polled at the pace of the chain's blocks. */
import type { Sleep } from '../../../../core/runtime/backoff.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { blameOn, NodeFault, orNull } from '../../nodes/node-fault.js'
import { createAskEvery, followNotices, rationedMs, watchHeads } from '../../nodes/watch-heads.js'
import type { Header } from '../chain-reader.js'
import { type FullHeader, type HeaderFetcher, readHeader } from './fetch-headers.js'
import { toQuantity } from './hex.js'

export type HeadsOptions = {
  chain: string
  pool: EndpointPool
  tracker: HeadTracker
  timeoutMs: number
  maxRps: number | undefined
  nowMs: () => number
  random: () => number
  sleep: Sleep
}

const NEW_HEADS = { method: 'eth_subscribe', params: ['newHeads'] }
const FASTEST_MS = 250
const SLOWEST_MS = 4_000
const UNKNOWN_MS = 1_000
/** With a working subscription, polling is only a safeguard. */
const NOTICED_MS = 5_000

export async function* followHeads(options: HeadsOptions, signal: AbortSignal): AsyncGenerator<Header> {
  const { chain, pool, tracker, nowMs, sleep } = options
  let noticedMs = Number.NEGATIVE_INFINITY

  const listen = (report: (head: FullHeader | null) => void, stop: AbortSignal): Promise<void> =>
    followNotices(
      {
        ...options,
        endpoints: pool.endpoints,
        request: NEW_HEADS,
        onNotice(endpoint, wire) {
          const header = readHeader(wire, {}, blameOn(endpoint, chain))
          noticedMs = nowMs()
          const news = tracker.noticed(endpoint, header)
          if (news !== 'known') report(news === 'new' ? header : null)
        },
      },
      stop,
    )

  function pollMs(): number {
    const { blockMs } = tracker
    const paced = blockMs === null ? UNKNOWN_MS : Math.min(SLOWEST_MS, Math.max(FASTEST_MS, blockMs / 2))
    const rationed = rationedMs(options.maxRps ?? Number.POSITIVE_INFINITY)
    const isNoticed = nowMs() - noticedMs < NOTICED_MS + 3 * (blockMs ?? 0)
    return Math.max(paced, rationed, isNoticed ? NOTICED_MS : 0)
  }

  const watch = { poll: tracker.head, pollMs, keyOf: ({ hash }: FullHeader) => hash, listen, nowMs, sleep }
  for await (const { number, hash, parentHash, timeS } of watchHeads(watch, signal))
    yield { number, hash, parentHash, timeS }
}

/**
 * The newest block of the endpoints that can be trusted to know it: lagging endpoints are marked, and a lower head is
 * verified before it is accepted.
 */
interface HeadTracker {
  head(signal: AbortSignal): Promise<FullHeader>
  /** A head from a subscription: `new`, `known`, or `unverified` if it is lower than the known head or far above it. */
  noticed(endpoint: Endpoint, header: FullHeader): 'new' | 'known' | 'unverified'
  /** The highest number seen; null: none yet. */
  readonly highest: number | null
  /** Milliseconds between blocks, by their timestamps; null if not known yet. */
  readonly blockMs: number | null
}

const LAG_BLOCKS = 5
const LAG_MS = 30_000
/** Timestamps are whole seconds: blocks of a fast chain (Arbitrum: four a second) mostly share one. */
const SHORTEST_MS = 250
/** The median of the last few is used, so that a pause or a burst of blocks does not decide. */
const SPACINGS = 9
/** A head this far above the known one is accepted only if its endpoint also has the parent block. */
const FAR_BLOCKS = 100

export function createHeadTracker(pool: EndpointPool, headers: HeaderFetcher, nowMs: () => number): HeadTracker {
  let highest: FullHeader | null = null
  const spacings: number[] = []

  function note(endpoint: Endpoint, header: FullHeader): void {
    endpoint.head = { number: header.number, atMs: nowMs() }
    if (highest !== null && header.number > highest.number && header.timeS >= highest.timeS) {
      spacings.push(((header.timeS - highest.timeS) * 1000) / (header.number - highest.number))
      if (spacings.length > SPACINGS) spacings.shift()
    }
  }

  const blockMs = (): number | null =>
    spacings.toSorted((one, other) => one - other)[Math.floor((spacings.length - 1) / 2)] ?? null

  async function askOne(endpoint: Endpoint, asking: Asking): Promise<FullHeader> {
    const header = await headers.byTag('latest', endpoint, asking)
    if (header === null) throw new NodeFault({ kind: 'lags', endpoint: endpoint.name, detail: 'no latest block' })
    if (highest === null || isFar(header)) await refuseAlone(endpoint, header, asking)
    note(endpoint, header)
    return header
  }

  const isFar = ({ number }: FullHeader): boolean => highest !== null && number > highest.number + FAR_BLOCKS

  async function refuseAlone(endpoint: Endpoint, { number, parentHash }: FullHeader, asking: Asking): Promise<void> {
    const startedMs = nowMs()
    if (number === 0 || (await headers.byTag(toQuantity(number - 1), endpoint, asking))?.hash === parentHash) return
    const detail = `head ${number} without its parent block`
    const fault = new NodeFault({ kind: 'lies', endpoint: endpoint.name, detail, block: number })
    endpoint.health.failed(fault, startedMs)
    throw fault
  }

  const askEvery = createAskEvery(pool, askOne)

  /** The highest head of all endpoints; null if they were not asked, or none answered. */
  async function highestOfAll(asking: Asking): Promise<FullHeader | null> {
    const answers = await askEvery(asking)
    const top = answers.reduce<FullHeader | null>(
      (best, { answer }) => (best === null || answer.number > best.number ? answer : best),
      null,
    )
    if (top === null) return null
    const spacingMs = blockMs()
    const allowed = Math.max(LAG_BLOCKS, spacingMs === null ? 0 : LAG_MS / Math.max(SHORTEST_MS, spacingMs))
    for (const { endpoint, answer } of answers) {
      const behind = top.number - answer.number
      endpoint.health.setLagging(behind > allowed ? behind : null)
    }
    return top
  }

  return {
    async head(signal) {
      const asking = { signal, urgent: true }
      const found = (await highestOfAll(asking)) ?? (await pool.attempt(asking, (endpoint) => askOne(endpoint, asking)))
      if (highest === null || found.number >= highest.number) {
        highest = found
        return found
      }
      // Lower than before: a lagging node, or a chain that really is shorter now.
      const known = await stillThere(headers, highest, asking)
      if (!known) highest = found
      return highest
    },
    noticed(endpoint, header) {
      if (isFar(header)) return 'unverified'
      note(endpoint, header)
      if (highest !== null && header.number < highest.number) return endpoint.health.lagging ? 'known' : 'unverified'
      if (header.hash === highest?.hash) return 'known'
      highest = header
      return 'new'
    },
    get highest() {
      return highest?.number ?? null
    },
    get blockMs() {
      return blockMs()
    },
  }
}

async function stillThere(headers: HeaderFetcher, header: FullHeader, asking: Asking): Promise<boolean> {
  // A node may still have orphaned blocks: what counts is which block is canonical at that number.
  const asked = headers.byNumber(header.number, { ...asking, patience: { attempts: 2, ms: 2_000 } })
  return (await orNull(asked, ['unknown_block']))?.hash === header.hash
}
