/** Which slots of a range to request, and the next one after it. */

import type { Asking, PatienceOptions } from '../../nodes/endpoint-pool.js'
import { type FaultKind, NodeFault, orNull } from '../../nodes/node-fault.js'
import type { BlockFetcher } from './fetch-blocks.js'
import type { SlotLists } from './slot-lists.js'

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
