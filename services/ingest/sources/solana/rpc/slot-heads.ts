/** New heads as they come: a stream's blocks are heads themselves, a node's notice of a slot says that it is time to ask, else they are asked for twice a slot. */
import type { Sleep } from '../../../../core/runtime/backoff.js'
import type { Head } from '../../following/chain-nodes.js'
import type { EndpointPool } from '../../nodes/endpoint-pool.js'
import { followNotices } from '../../nodes/subscriptions.js'
import { rationedMs, watchHeads } from '../../nodes/watch-heads.js'
import type { SlotHeader } from '../slot-block.js'
import { SLOT_NOTICES } from './requests.js'
import type { SlotTracker } from './slot-tracker.js'

export type SlotHeadsOptions = {
  pool: EndpointPool
  tracker: SlotTracker
  /** Blocks that come by themselves. Returns how to stop it. */
  onBlock?: ((listener: (header: SlotHeader) => void) => () => void) | undefined
  timeoutMs: number
  maxRps: number | undefined
  nowMs: () => number
  random: () => number
  sleep: Sleep
}

/** A slot takes 400 ms. */
const POLL_MS = 200
/** Where notices of slots come, each makes a poll. */
const NOTICED_MS = 1_000
/** Where blocks come by themselves, polling is a safeguard only. */
const STREAMED_MS = 3_000

export function followSlots(options: SlotHeadsOptions, signal: AbortSignal): AsyncGenerator<Head> {
  const { pool, tracker, onBlock, nowMs, sleep } = options
  let noticedMs = Number.NEGATIVE_INFINITY
  let streamedMs = Number.NEGATIVE_INFINITY
  let polledMs = Number.NEGATIVE_INFINITY

  async function listen(tell: (head: Head | null) => void, stop: AbortSignal): Promise<void> {
    const silence = onBlock?.((header) => {
      streamedMs = nowMs()
      if (tracker.told(header.number)) tell(header)
      // Nothing is known yet, or it is far above: nodes are asked.
      else if (tracker.highest === null || header.number > tracker.highest) tell(null)
    })
    const onNotice = (): void => {
      noticedMs = nowMs()
      if (!isRecent(streamedMs, STREAMED_MS) && !isRecent(polledMs, leastMs())) tell(null)
    }
    await followNotices({ ...options, endpoints: pool.endpoints, request: SLOT_NOTICES, onNotice }, stop)
    if (!stop.aborted) await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()))
    silence?.()
  }

  const isRecent = (atMs: number, ms: number): boolean => nowMs() - atMs < ms

  function pollMs(): number {
    if (isRecent(streamedMs, STREAMED_MS)) return STREAMED_MS
    return Math.max(isRecent(noticedMs, NOTICED_MS) ? NOTICED_MS : POLL_MS, leastMs())
  }

  /** By what was configured, and by what the endpoints were found to take. */
  function leastMs(): number {
    const taken = pool.endpoints.reduce((sum, { perS }) => sum + perS, 0)
    return rationedMs(Math.min(options.maxRps ?? Number.POSITIVE_INFINITY, taken))
  }

  async function poll(stop: AbortSignal): Promise<Head> {
    polledMs = nowMs()
    return { number: await tracker.head(stop) }
  }

  return watchHeads({ poll, pollMs, keyOf: ({ number }) => number, listen, nowMs, sleep }, signal)
}
