import type { WatchedThread } from './watch-table.js'

export type SilentThread = Pick<WatchedThread, 'name' | 'limitMs'>

/** Finds the thread whose event loop has not run for its limit. */
export interface SilenceJudge {
  /** `elapsedMs`: since the last check. */
  check(threads: readonly WatchedThread[], elapsedMs: number): SilentThread | undefined
}

type Silence = { ticks: number; ms: number }

/**
 * Only time in which the watcher itself ran counts: a suspended machine or a stopped process stands still as a whole. In a
 * debugger a paused thread is silent on purpose.
 */
export function createSilenceJudge(periodMs: number): SilenceJudge {
  let known = new Map<number, Silence>()

  return {
    check(threads, elapsedMs) {
      const isDebugged = threads.some((thread) => thread.isDebugged)
      const countedMs = isDebugged ? 0 : Math.min(elapsedMs, 2 * periodMs)
      const seen = new Map<number, Silence>()
      for (const { slot, ticks } of threads) {
        const before = known.get(slot)
        const isSilent = before !== undefined && before.ticks === ticks && !isDebugged
        seen.set(slot, { ticks, ms: isSilent ? before.ms + countedMs : 0 })
      }
      known = seen
      return threads.find(({ slot, limitMs }) => (seen.get(slot)?.ms ?? 0) >= limitMs)
    },
  }
}
