/** Logs what ingest has published: once per interval, and in total when it stops. */
import type { Logger } from '../core/runtime/logger.js'
import { type IngestStatus, totals } from './ingest-status.js'

export function startProgressLog(status: IngestStatus, everyMs: number, logger: Logger): { stop(): void } {
  const startedMs = performance.now()
  let last = totals(status)
  const report = (message: string, sinceMs: number) => {
    const now = totals(status)
    const perS = (count: number) => Math.round((count * 1000) / Math.max(1, sinceMs))
    logger.info(message, {
      source: status.source,
      blocks: now.blocks,
      events: now.events,
      dead_letters: now.deadLetters,
      events_per_s: perS(now.events - last.events),
    })
    last = now
  }
  const timer = setInterval(() => report('ingest', everyMs), everyMs)
  timer.unref()
  return {
    stop() {
      clearInterval(timer)
      last = { blocks: 0, retracts: 0, events: 0, deadLetters: 0 }
      report(`ingest ${status.state}`, performance.now() - startedMs)
    },
  }
}
