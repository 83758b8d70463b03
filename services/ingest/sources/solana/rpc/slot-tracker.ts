/** The newest slot of the endpoints that can be trusted to know it: who is behind is marked, a lower one is not obeyed at once, one far above is looked into. */
import { blameOn } from '../../nodes/blame.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import type { NodeFault } from '../../nodes/node-fault.js'
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

/** Every so many questions all endpoints are asked, else the best alone. */
const ASK_ALL_EVERY = 8
const ASK_ALL_TIMEOUT_MS = 3_000
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
  let asked = 0

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

  /** Of all that answer, the highest first. */
  async function askAll(asking: Asking): Promise<Told[]> {
    const ready = pool.endpoints.filter((endpoint) => endpoint.health.usable && endpoint.waitMs() === 0)
    const answers = await Promise.allSettled(
      ready.map((endpoint) => askOne(endpoint, { ...asking, timeoutMs: ASK_ALL_TIMEOUT_MS })),
    )
    asking.signal.throwIfAborted()
    const told = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    return told.sort((one, other) => other.slot - one.slot)
  }

  async function believed(told: readonly Told[], signal: AbortSignal): Promise<number> {
    let fault: NodeFault | undefined
    for (const { slot, endpoint } of told) {
      const startedMs = nowMs()
      if (!isLeap(slot) || (await isThere(slot, signal))) {
        for (const one of told) one.endpoint.health.setLagging(slot - one.slot > LAG_SLOTS ? slot - one.slot : null)
        return slot
      }
      fault = disbelieve(endpoint, `slot ${slot} as its head, where there is no block`, startedMs)
    }
    throw fault ?? new Error('nobody was asked')
  }

  return {
    async head(signal) {
      const asking = { signal, urgent: true }
      const all = pool.endpoints.length > 1 && asked++ % ASK_ALL_EVERY === 0 ? await askAll(asking) : []
      const one = all.length > 0 ? all : [await pool.attempt(asking, (endpoint) => askOne(endpoint, asking))]
      const found = await believed(one, signal)
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
