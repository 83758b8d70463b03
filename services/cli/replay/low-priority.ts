/** Below everything else on the machine: live blocks come first. */
import { existsSync, readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

const THREADS = '/proc/self/task'

/** On Linux each thread has its own priority, and those of V8 and libuv run already: garbage collection would compete with `up`. */
export function lowerPriority(): void {
  const threads = existsSync(THREADS) ? readdirSync(THREADS).map(Number) : [0]
  for (const thread of threads) {
    try {
      setPriority(thread, constants.priority.PRIORITY_LOW)
    } catch {
      // It has just ended.
    }
  }
}
