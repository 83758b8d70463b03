/** Follows new heads: a stream's blocks are heads, a node's slot notice triggers a poll; otherwise it polls twice per slot. */
import type { Sleep } from '../../../../core/runtime/backoff.js'
import type { Head } from '../../following/chain-nodes.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { blameOn, NodeFault } from '../../nodes/node-fault.js'
import { createAskEvery, followNotices, rationedMs, watchHeads } from '../../nodes/watch-heads.js'
import type { Commitment, SlotHeader } from '../slot-block.js'
import { isCount, SLOT_NOTICES, slotRequest } from './rpc-messages.js'

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

/** Tracks the newest slot: marks lagging endpoints, does not follow a lower slot at once, and verifies one far above. */
interface SlotTracker {
  head(signal: AbortSignal): Promise<number>
  /** Notes a pushed block. Whether it is the new head; one far above is not until nodes confirm it. */
  noteStreamed(slot: number): boolean
  /** The highest seen; null: none. */
  readonly highest: number | null
  /** Whether it was a recent head: then it has, or had, a block. */
  isKnownHead(slot: number): boolean
}

export type SlotTrackerOptions = {
  chain: string
  pool: EndpointPool
  commitment: Commitment
  /** Whether any endpoint has a block at this slot. */
  isThere(slot: number, signal: AbortSignal): Promise<boolean>
  nowMs: () => number
}

type ReportedHead = { slot: number; endpoint: Endpoint }

/** Half a minute. */
const LAG_SLOTS = 75
/** Endpoints always differ by a few slots. */
const SKEW_SLOTS = 32
const SKEW_MS = 10_000
/** A jump above this, or twice as fast as slots pass, needs more than one node's report. */
const LEAP_SLOTS = 150
const FAST_SLOT_MS = 200
const REMEMBERED_HEADS = 64

export function createSlotTracker(options: SlotTrackerOptions): SlotTracker {
  const { chain, pool, isThere, nowMs } = options
  const request = slotRequest(options.commitment)
  const heads = new Set<number>()
  let highest: number | null = null
  let raisedMs = Number.NEGATIVE_INFINITY

  function raise(slot: number): void {
    highest = slot
    raisedMs = nowMs()
    heads.add(slot)
    for (const old of heads) {
      if (heads.size <= REMEMBERED_HEADS) break
      heads.delete(old)
    }
  }

  const isLeap = (slot: number): boolean =>
    highest === null || slot > highest + LEAP_SLOTS + (nowMs() - raisedMs) / FAST_SLOT_MS

  async function askOne(endpoint: Endpoint, asking: Asking): Promise<ReportedHead> {
    const startedMs = nowMs()
    const [outcome] = await endpoint.send([request], { ...asking, timeoutMs: pool.timeoutMs(asking) })
    if (outcome === undefined || !outcome.ok) throw outcome?.fault ?? new Error('an outcome is missing')
    if (!isCount(outcome.result)) throw disbelieve(endpoint, 'returned an invalid slot', startedMs)
    endpoint.head = { number: outcome.result, atMs: nowMs() }
    return { slot: outcome.result, endpoint }
  }

  function disbelieve(endpoint: Endpoint, detail: string, startedMs: number): NodeFault {
    const fault = blameOn(endpoint, chain)('lies', detail) as NodeFault
    endpoint.health.failed(fault, startedMs)
    return fault
  }

  /** Throws if the slot is not plausible. */
  async function believe({ slot, endpoint }: ReportedHead, signal: AbortSignal): Promise<number> {
    const startedMs = nowMs()
    if (!isLeap(slot) || (await isThere(slot, signal))) return slot
    throw disbelieve(endpoint, `reported slot ${slot} as its head, which has no block`, startedMs)
  }

  const askEvery = createAskEvery(pool, askOne)

  /** The highest plausible slot of all endpoints; null: none, or not asked. */
  async function highestOfAll(asking: Asking): Promise<number | null> {
    const reported = (await askEvery(asking)).map(({ answer }) => answer)
    for (const one of reported.sort((first, second) => second.slot - first.slot)) {
      const top = await believe(one, asking.signal).catch(unlessFault)
      if (top === null) continue
      for (const { endpoint, slot } of reported) endpoint.health.setLagging(top - slot > LAG_SLOTS ? top - slot : null)
      return top
    }
    return null
  }

  return {
    async head(signal) {
      const asking = { signal, urgent: true }
      const found =
        (await highestOfAll(asking)) ??
        (await pool.attempt(asking, async (endpoint) => believe(await askOne(endpoint, asking), signal)))
      if (highest === null || found > highest) raise(found)
      // Lower than before: a lagging node, or the head was orphaned.
      else if (found < highest && (highest - found > SKEW_SLOTS || nowMs() - raisedMs > SKEW_MS)) {
        if (await isThere(highest, signal)) raisedMs = nowMs()
        else raise(found)
      }
      return highest ?? found
    },
    noteStreamed(slot) {
      if (isLeap(slot) || (highest !== null && slot <= highest)) return false
      raise(slot)
      return true
    },
    get highest() {
      return highest
    },
    isKnownHead: (slot) => heads.has(slot),
  }
}

function unlessFault(error: unknown): null {
  if (error instanceof NodeFault) return null
  throw error
}
