/** Which updates' swaps clients must be pushed, and which they were. */
import type { BlockUpdate } from '../../../services/core/domain/records.js'

/** A push's update: its cursor without the number within it. */
export const updateOf = (cursor: string): string => cursor.replace(/:\d+$/, '')

export const swapsOf = (updates: readonly BlockUpdate[]): string[] =>
  updates.flatMap(({ epoch, chain, seq, pairs }) =>
    pairs.flatMap(({ trades }) => trades.map(() => `${epoch}:${chain}:${seq}`)),
  )

/** Of updates in the order of the log: the first of a later epoch repeats a block and is not pushed. */
export function pushedUpdates(updates: readonly BlockUpdate[]): BlockUpdate[] {
  return updates.filter(({ epoch }, at) => at === 0 || updates[at - 1]?.epoch === epoch)
}
