/** Progress of catching up: one log line per interval, with the rate and the time left. */
import type { Logger } from '../../../core/runtime/logger.js'

export interface Progress {
  /** The head to be reached. */
  target(number: number): void
  at(number: number): void
}

export function createProgress(chain: string, logger: Logger, everyMs: number, nowMs: () => number): Progress {
  let goal = 0
  let last: { number: number; ms: number } | undefined
  return {
    target(number) {
      goal = number
    },
    at(number) {
      const ms = nowMs()
      last ??= { number, ms }
      if (ms - last.ms < everyMs) return
      const perS = ((number - last.number) * 1000) / (ms - last.ms)
      const left = Math.max(0, goal - number)
      logger.info('catching up', {
        chain,
        block: number,
        head: goal,
        blocks_left: left,
        blocks_per_s: Math.round(perS * 10) / 10,
        time_left_s: perS > 0 ? Math.round(left / perS) : null,
      })
      last = { number, ms }
    },
  }
}
