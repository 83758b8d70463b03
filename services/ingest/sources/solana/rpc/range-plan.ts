/** Which slots of a range are to be asked for, and which lie beside it. */
import type { Asking, PatienceOptions } from '../../nodes/endpoint-pool.js'
import { orAbsent } from './absent.js'
import type { BlockFetcher } from './fetch-blocks.js'
import type { SlotLists } from './slot-lists.js'

export type RangePlan = {
  from: number
  to: number
  slots: readonly number[]
  /** By the nodes' word each of the slots has a block; else any of them may. */
  isListed: boolean
  /** Its blocks neither come late nor die: nothing of it may be left out or be wrong. */
  isSettled: boolean
  /** The first after the range that is listed. */
  next: number | undefined
}

export type PlanParts = {
  fetcher: BlockFetcher
  lists: SlotLists
  /** The highest slot whose block will neither come late nor die, as far as anybody can tell. */
  settledTo(): number
}

/** So few near the head are asked for without asking first which they are. */
const FEW_SLOTS = 16
/** More are hardly ever skipped in a row. */
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
  // Of blocks that it no longer has a node lists none, as if there had never been any; asked for one, it says so.
  if (listed.length === 0) {
    const header = await orAbsent(parts.fetcher.header(to, { ...asking, patience: PRUNED_PATIENCE }))
    if (header !== null) return each
  }
  const slots = listed.filter((slot) => slot <= to)
  return { from, to, slots, isListed: true, isSettled, next: listed[slots.length] }
}

const slotsFrom = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, place) => from + place)
