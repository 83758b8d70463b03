/** Follows new heads: a stream's blocks are heads, a node's slot notice triggers a poll; otherwise it polls twice per slot. */
import type { Sleep } from '../../../../core/runtime/backoff.js'
import type { Head } from '../../following/chain-nodes.js'
import type { EndpointPool } from '../../nodes/endpoint-pool.js'
import { followNotices } from '../../nodes/subscriptions.js'
import { rationedMs, watchHeads } from '../../nodes/watch-heads.js'
import type { SlotHeader } from '../slot-block.js'
import { SLOT_NOTICES } from './rpc-messages.js'
import type { SlotTracker } from './slot-tracker.js'

export type SlotHeadsOptions = {
  pool: EndpointPool
  tracker: SlotTracker
  /** Pushed blocks. Returns a function that stops it. */
  onBlock?: ((listener: (header: SlotHeader) => void) => () => void) | undefined
  timeoutMs: number
  maxRps: number | undefined
  nowMs: () => number
  random: () => number
  sleep: Sleep
}

/** A slot takes 400 ms. */
const POLL_MS = 200
/** With slot notices: each triggers a poll. */
const NOTICED_MS = 1_000
/** With pushed blocks: polling is only a safeguard. */
const STREAMED_MS = 3_000

export function followSlots(options: SlotHeadsOptions, signal: AbortSignal): AsyncGenerator<Head> {
  const { pool, tracker, onBlock, nowMs, sleep } = options
  let noticedMs = Number.NEGATIVE_INFINITY
  let streamedMs = Number.NEGATIVE_INFINITY
  let polledMs = Number.NEGATIVE_INFINITY

  async function listen(report: (head: Head | null) => void, stop: AbortSignal): Promise<void> {
    const silence = onBlock?.((header) => {
      streamedMs = nowMs()
      if (tracker.noteStreamed(header.number)) report(header)
      // No head is known yet, or it is far above: ask the nodes.
      else if (tracker.highest === null || header.number > tracker.highest) report(null)
    })
    const onNotice = (): void => {
      noticedMs = nowMs()
      if (!isRecent(streamedMs, STREAMED_MS) && !isRecent(polledMs, leastMs())) report(null)
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

  /** From the configured rate and the endpoints' measured rates. */
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
