/** Which slots of a range to request, and the next one after it. */
import type { Asking, EndpointPool, PatienceOptions } from '../../nodes/endpoint-pool.js'
import { blameOn, type FaultKind, NodeFault, orNull } from '../../nodes/node-fault.js'
import { RecentMap } from '../recent-map.js'
import type { Commitment } from '../slot-block.js'
import type { BlockFetcher } from './fetch-blocks.js'
import { isCount, listRequest } from './rpc-messages.js'

export type RangePlan = {
  from: number
  to: number
  slots: readonly number[]
  /** Whether nodes listed these slots as having blocks; otherwise any may be skipped. */
  isListed: boolean
  /** Its blocks are neither late nor orphaned: the result must be complete and exact. */
  isSettled: boolean
  /** The first listed slot after the range. */
  next: number | undefined
}

export type PlanParts = {
  fetcher: BlockFetcher
  lists: SlotLists
  /** The highest slot whose block is expected to be neither late nor orphaned. */
  settledTo(): number
}

/** This few slots near the head are requested without listing them first. */
const FEW_SLOTS = 16
/** Longer runs of skipped slots are very rare. */
const NEXT_WITHIN_SLOTS = 32
const PRUNED_PATIENCE: PatienceOptions = { attempts: 5, ms: 10_000 }

export async function planRange(parts: PlanParts, from: number, to: number, asking: Asking): Promise<RangePlan> {
  const settledTo = parts.settledTo()
  const isSettled = to <= settledTo
  const each: RangePlan = { from, to, slots: slotsFrom(from, to), isListed: false, isSettled, next: undefined }
  if (!isSettled && to - from < FEW_SLOTS) return each
  const last = isSettled ? Math.min(settledTo, to + NEXT_WITHIN_SLOTS) : to
  const listed = await parts.lists.slotsIn(from, last, settledTo, asking)
  if (listed === null) return each
  // A node lists no slots for blocks it has pruned; only a request for one reveals it.
  if (listed.length === 0) {
    const header = await orAbsent(parts.fetcher.header(to, { ...asking, patience: PRUNED_PATIENCE }))
    if (header !== null) return each
  }
  const slots = listed.filter((slot) => slot <= to)
  return { from, to, slots, isListed: true, isSettled, next: listed[slots.length] }
}

const slotsFrom = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, place) => from + place)

const ABSENCES: readonly FaultKind[] = ['unknown_block', 'lags']
/** Faults a short series of requests may get although the block exists. */
const TRANSIENT: readonly FaultKind[] = [...ABSENCES, 'unavailable', 'timeout', 'rate_limited', 'node_error', 'lies']

export const isTransient = (error: unknown): error is NodeFault =>
  error instanceof NodeFault && TRANSIENT.includes(error.kind)

/** Null: no endpoint has it, or the last one asked lags. */
export const orAbsent = <T>(asked: Promise<T>): Promise<T | null> => orNull(asked, ABSENCES)

/** Null: it did not come in time. */
export const ifItComes = <T>(asked: Promise<T>): Promise<T | null> => orNull(asked, TRANSIENT)

/** Which slots have blocks according to the nodes. Requested in wide windows, which are cached once settled. */
interface SlotLists {
  /** In order. Null: no node lists them. A list may omit blocks and may include an orphaned one. */
  slotsIn(from: number, to: number, settledTo: number, asking: Asking): Promise<number[] | null>
}

/** Nodes accept 500,000 (agave, `MAX_GET_CONFIRMED_BLOCKS_RANGE`), providers less. */
const WINDOW_SLOTS = 1000
const REMEMBERED_WINDOWS = 8

type Window = { to: number; slots: Promise<number[] | null> }

export function createSlotLists(pool: EndpointPool, chain: string, commitment: Commitment): SlotLists {
  /** By their first slot. */
  const windows = new RecentMap<number, Window>(REMEMBERED_WINDOWS)

  async function ask(from: number, to: number, asking: Asking): Promise<number[] | null> {
    try {
      const [slots] = await pool.ask(
        [listRequest(from, to, commitment)],
        (result, _, endpoint) => {
          const list = Array.isArray(result) ? (result as unknown[]) : [null]
          if (
            !list.every((slot, place) => isCount(slot) && slot >= from && slot <= to && isAfter(slot, list[place - 1]))
          )
            throw blameOn(endpoint, chain)('lies', `returned an invalid list of the slots ${from} to ${to}`, from)
          return list as number[]
        },
        asking,
      )
      return slots ?? []
    } catch (error) {
      if (error instanceof NodeFault && REFUSALS.has(error.kind)) return null
      throw error
    }
  }

  /** Concurrent ranges share one response. */
  async function settled(first: number, low: number, high: number, settledTo: number, asking: Asking) {
    let window = windows.get(first)
    if (window === undefined || window.to < high) {
      const to = Math.min(first + WINDOW_SLOTS - 1, settledTo)
      window = { to, slots: ask(first, to, asking) }
      windows.set(first, window)
    }
    const slots = await window.slots.catch(() => {
      // The shared request may have failed or been aborted by another range.
      if (windows.get(first) === window) windows.set(first, { to: -1, slots: Promise.resolve(null) })
      return null
    })
    asking.signal.throwIfAborted()
    return slots === null ? ask(low, high, asking) : slots.filter((slot) => slot >= low && slot <= high)
  }

  return {
    async slotsIn(from, to, settledTo, asking) {
      const slots: number[] = []
      for (let first = from - (from % WINDOW_SLOTS); first <= to; first += WINDOW_SLOTS) {
        const [low, high] = [Math.max(from, first), Math.min(to, first + WINDOW_SLOTS - 1)]
        const part = await (high <= settledTo ? settled(first, low, high, settledTo, asking) : ask(low, high, asking))
        if (part === null) return null
        slots.push(...part)
      }
      return slots
    },
  }
}

/** The node does not list slots, or not this many. */
const REFUSALS: ReadonlySet<FaultKind> = new Set(['invalid', 'unsupported', 'too_wide'])

const isAfter = (slot: number, before: unknown): boolean => before === undefined || slot > (before as number)
