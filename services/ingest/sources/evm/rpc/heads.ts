/** New heads as they come: by notice where a node gives it, else asked for at the pace of the chain's own blocks. */
import { setMaxListeners } from 'node:events'
import { isRetryable, type Sleep } from '../../../../core/runtime/backoff.js'
import type { Logger } from '../../../../core/runtime/logger.js'
import type { EndpointPool } from '../../nodes/endpoint-pool.js'
import type { Header } from '../chain-reader.js'
import type { FullHeader } from './check-headers.js'
import { followNotices } from './head-notices.js'
import type { HeadTracker } from './head-tracker.js'

export type HeadsOptions = {
  chain: string
  pool: EndpointPool
  tracker: HeadTracker
  timeoutMs: number
  maxRps: number | undefined
  logger: Logger
  nowMs: () => number
  random: () => number
  sleep: Sleep
}

const FASTEST_MS = 250
const SLOWEST_MS = 4_000
const UNKNOWN_MS = 1_000
/** A notice makes polling a safeguard only. */
const NOTICED_MS = 5_000
/** Of what the chain's requests are rationed to. */
const SHARE_OF_RPS = 0.25

export async function* followHeads(options: HeadsOptions, signal: AbortSignal): AsyncGenerator<Header> {
  const { tracker, nowMs, logger } = options
  const ended = new AbortController()
  const stop = AbortSignal.any([signal, ended.signal])
  setMaxListeners(0, stop)
  let wake = (): void => {}
  let told: FullHeader | null = null
  /** Something happened that the loop has not looked at. */
  let isDue = false
  let noticedMs = Number.NEGATIVE_INFINITY
  const notices = followNotices(
    {
      ...options,
      endpoints: options.pool.endpoints,
      onHead(endpoint, header) {
        noticedMs = nowMs()
        const news = tracker.told(endpoint, header)
        if (news === 'known') return
        if (news === 'new') told = header
        isDue = true
        wake()
      },
    },
    stop,
  )
  let last: string | null = null
  let isTroubled = false
  try {
    while (!stop.aborted) {
      isDue = false
      const noticed: FullHeader | null = told
      told = null
      const header = noticed ?? (await polled())
      if (header !== null && header.hash !== last) {
        last = header.hash
        const { number, hash, parentHash, timeS } = header
        yield { number, hash, parentHash, timeS }
      }
      if (!isDue && !stop.aborted) await pause()
    }
  } finally {
    ended.abort()
    await notices
  }

  async function polled(): Promise<FullHeader | null> {
    try {
      const header = await tracker.head(stop)
      isTroubled = false
      return header
    } catch (error) {
      if (stop.aborted) return null
      if (!isRetryable(error)) throw error
      if (!isTroubled) logger.warn('the head cannot be read; trying on', { reason: error })
      isTroubled = true
      return null
    }
  }

  /** Until the next poll, or a notice. */
  async function pause(): Promise<void> {
    const early = new AbortController()
    wake = () => early.abort()
    // Not AbortSignal.any: on Node 20 each would stay as long as the signal it listens to.
    stop.addEventListener('abort', wake, { once: true })
    await options.sleep(pollMs(), early.signal)
    stop.removeEventListener('abort', wake)
    wake = () => {}
  }

  function pollMs(): number {
    const { blockMs } = tracker
    const paced = blockMs === null ? UNKNOWN_MS : Math.min(SLOWEST_MS, Math.max(FASTEST_MS, blockMs / 2))
    const rationed = options.maxRps === undefined ? 0 : 1000 / (options.maxRps * SHARE_OF_RPS)
    const isNoticed = nowMs() - noticedMs < NOTICED_MS + 3 * (blockMs ?? 0)
    return Math.max(paced, rationed, isNoticed ? NOTICED_MS : 0)
  }
}
