/** The newest slot of the endpoints that can be trusted to know it: who is behind is marked, a lower one is not obeyed at once, one far above is looked into. */

import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { blameOn, NodeFault } from '../../nodes/node-fault.js'
import { createAskEvery } from '../../nodes/watch-heads.js'
import type { Commitment } from '../slot-block.js'
import { isCount } from './check-block.js'
import { slotRequest } from './requests.js'

export interface SlotTracker {
  head(signal: AbortSignal): Promise<number>
  /** A block came by itself. Whether it is the new head; one far above is not, before nodes were asked. */
  told(slot: number): boolean
  /** The highest seen; null: none yet. */
  readonly highest: number | null
  /** Whether it was a head lately: then it has, or had, a block. */
  isTold(slot: number): boolean
}

export type SlotTrackerOptions = {
  chain: string
  pool: EndpointPool
  commitment: Commitment
  /** Whether any endpoint has a block there. */
  isThere(slot: number, signal: AbortSignal): Promise<boolean>
  nowMs: () => number
}

type Told = { slot: number; endpoint: Endpoint }

/** Half a minute. */
const LAG_SLOTS = 75
/** Endpoints differ by a few slots all the time. */
const SKEW_SLOTS = 32
const SKEW_MS = 10_000
/** More than this at once, or twice as fast as slots go by, is not believed of one node. */
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

  async function askOne(endpoint: Endpoint, asking: Asking): Promise<Told> {
    const startedMs = nowMs()
    const [outcome] = await endpoint.send([request], { ...asking, timeoutMs: pool.timeoutMs(asking) })
    if (outcome === undefined || !outcome.ok) throw outcome?.fault ?? new Error('an outcome is missing')
    if (!isCount(outcome.result)) throw disbelieve(endpoint, 'a slot that is none', startedMs)
    endpoint.head = { number: outcome.result, atMs: nowMs() }
    return { slot: outcome.result, endpoint }
  }

  function disbelieve(endpoint: Endpoint, detail: string, startedMs: number): NodeFault {
    const fault = blameOn(endpoint, chain)('lies', detail) as NodeFault
    endpoint.health.failed(fault, startedMs)
    return fault
  }

  /** Throws where it cannot be. */
  async function believe({ slot, endpoint }: Told, signal: AbortSignal): Promise<number> {
    const startedMs = nowMs()
    if (!isLeap(slot) || (await isThere(slot, signal))) return slot
    throw disbelieve(endpoint, `slot ${slot} as its head, where there is no block`, startedMs)
  }

  const askEvery = createAskEvery(pool, askOne)

  /** Of all that answer, the highest that can be; null: none, or they were not asked. */
  async function highestOfAll(asking: Asking): Promise<number | null> {
    const told = (await askEvery(asking)).map(({ answer }) => answer)
    for (const one of told.sort((first, second) => second.slot - first.slot)) {
      const top = await believe(one, asking.signal).catch(unlessFault)
      if (top === null) continue
      for (const { endpoint, slot } of told) endpoint.health.setLagging(top - slot > LAG_SLOTS ? top - slot : null)
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
      // Lower than what was there: a node behind, or what was there has died.
      else if (found < highest && (highest - found > SKEW_SLOTS || nowMs() - raisedMs > SKEW_MS)) {
        if (await isThere(highest, signal)) raisedMs = nowMs()
        else raise(found)
      }
      return highest ?? found
    },
    told(slot) {
      if (isLeap(slot) || (highest !== null && slot <= highest)) return false
      raise(slot)
      return true
    },
    get highest() {
      return highest
    },
    isTold: (slot) => heads.has(slot),
  }
}

function unlessFault(error: unknown): null {
  if (error instanceof NodeFault) return null
  throw error
}
