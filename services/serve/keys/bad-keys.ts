/** Guessing keys must be slow: an address that keeps sending unknown ones waits longer for each answer. */
import type { Logger } from '../../core/runtime/logger.js'
import type { ServeMetrics } from '../serve-metrics.js'

export interface BadKeys {
  /** Notes a refused key; returns how long its answer must wait. */
  note(address: string, door: 'rest' | 'push'): number
}

/** A program with an old key is not an attacker: this many in a minute are answered at once. */
const FREE_PER_MINUTE = 10
const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 5000
const MINUTE_MS = 60_000
const MAX_ADDRESSES = 10_000
/** As the servers write them; uWebSockets.js writes IPv4 in full-length IPv6. */
const LOOPBACK = /^(127\.|::1$|::ffff:127\.|(0000:){7}0001$|(0000:){5}ffff:7f)/

type Guesses = { sinceMs: number; count: number }

export type BadKeysDeps = {
  logger: Logger
  metrics: ServeMetrics
  nowMs: () => number
  /** Also this machine's own: it is spared otherwise, since a proxy in front is this machine, and its guests all share it. */
  slowLoopback?: boolean | undefined
}

export function createBadKeys({ logger, metrics, nowMs, slowLoopback = false }: BadKeysDeps): BadKeys {
  const byAddress = new Map<string, Guesses>()

  function guessesOf(address: string): Guesses {
    const known = byAddress.get(address)
    if (known !== undefined && nowMs() - known.sinceMs < MINUTE_MS) return known
    byAddress.delete(address)
    const [oldest] = byAddress.keys()
    if (byAddress.size >= MAX_ADDRESSES && oldest !== undefined) byAddress.delete(oldest)
    const fresh = { sinceMs: nowMs(), count: 0 }
    byAddress.set(address, fresh)
    return fresh
  }

  return {
    note(address, door) {
      metrics.badKeys.add(door)
      if (!slowLoopback && LOOPBACK.test(address)) return 0
      const guesses = guessesOf(address)
      guesses.count += 1
      const over = guesses.count - FREE_PER_MINUTE
      if (over <= 0) return 0
      if (over === 1) logger.warn('many unknown API keys from one address, slowing it down', { address, door })
      return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(over - 1, 10))
    },
  }
}
