/** Folds every chain the log has blocks of, those that appear later too, until the process shall stop. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Aggregate } from '../../aggregate/main.js'
import type { Config } from '../../core/config/index.js'
import { blocksTopic, type EventLog } from '../../core/log/port.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Shutdown } from '../../core/runtime/shutdown.js'

const LOOK_EVERY_MS = 200
const PREFIX = blocksTopic('')

/** Resolves with the first failure that is not the chain's own; a chain that cannot go on keeps the others running. */
export async function runChains(
  aggregate: Aggregate,
  log: EventLog,
  config: Pick<Config, 'intervals'>,
  logger: Logger,
  shutdown: Shutdown,
): Promise<unknown> {
  const running = new Map<string, Promise<void>>()
  let failure: unknown
  const progress = setInterval(() => reportProgress(aggregate, logger), config.intervals.progressMs)
  while (!shutdown.signal.aborted) {
    for (const { topic } of await log.topics()) {
      if (!topic.startsWith(PREFIX)) continue
      const chain = topic.slice(PREFIX.length)
      if (running.has(chain)) continue
      const run = aggregate.runChain(chain, shutdown.signal).catch((error: unknown) => {
        failure ??= error
        logger.error('the fold of a chain failed', { chain, error })
        shutdown.stop(`the fold of ${chain} failed`)
      })
      running.set(chain, run)
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal: shutdown.signal }).catch(() => {})
  }
  clearInterval(progress)
  await Promise.all(running.values())
  return failure
}

/** One line per chain and interval, while it moves. */
const lastSeq = new WeakMap<Aggregate, Map<string, number>>()

function reportProgress(aggregate: Aggregate, logger: Logger): void {
  const seen = lastSeq.get(aggregate) ?? new Map<string, number>()
  lastSeq.set(aggregate, seen)
  for (const { chain, seq, head, swaps, repeated, deadByReason, flushedSeq } of aggregate.status()) {
    if (seen.get(chain) === seq) continue
    seen.set(chain, seq)
    logger.info('aggregate', {
      chain,
      block: head?.number,
      seq,
      stored_seq: flushedSeq,
      swaps,
      repeated,
      dead_letters: sum(deadByReason.values()),
    })
  }
}

function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}
