/** How long a request is tried again before its caller hears of it. */
import type { NodeFault } from './node-fault.js'

export type PatienceOptions = { attempts: number; ms: number }

export interface Patience {
  /** Throws the fault where it was the last straw. */
  failed(fault: NodeFault): void
  progressed(): void
  /** How long to wait before all endpoints are asked once more. */
  pauseMs(): number
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5_000

export function createPatience(options: PatienceOptions, nowMs: () => number, random: () => number): Patience {
  let attempts = 0
  let rounds = 0
  let startedMs = nowMs()
  return {
    failed(fault) {
      // Who asks too fast waits; it was no answer.
      if (fault.kind !== 'rate_limited') attempts++
      if (attempts >= options.attempts || nowMs() - startedMs >= options.ms) throw fault
    },
    progressed() {
      attempts = 0
      rounds = 0
      startedMs = nowMs()
    },
    pauseMs() {
      const ceilingMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(rounds++, 20))
      return ceilingMs * (0.5 + random() / 2)
    },
  }
}
