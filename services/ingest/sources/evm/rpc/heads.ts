/** New heads: by subscription where a node supports it, else polled at the pace of the chain's blocks. */
import type { Sleep } from '../../../../core/runtime/backoff.js'
import type { EndpointPool } from '../../nodes/endpoint-pool.js'
import { blameOn } from '../../nodes/node-fault.js'
import { followNotices } from '../../nodes/subscriptions.js'
import { rationedMs, watchHeads } from '../../nodes/watch-heads.js'
import type { Header } from '../chain-reader.js'
import { type FullHeader, readHeader } from './fetch-headers.js'
import type { HeadTracker } from './head-tracker.js'

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
