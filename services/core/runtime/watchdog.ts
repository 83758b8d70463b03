/**
 * Ends a process whose event loop stands still. It would answer nobody and keep its ports, and no supervisor would notice. Every
 * watched thread counts its ticks in shared memory, and one thread for the whole process reads the counts.
 */
import { url as inspectorUrl } from 'node:inspector'
import { getEnvironmentData, setEnvironmentData, Worker } from 'node:worker_threads'
import type { WatcherData } from './event-loop-watcher.js'
import type { Logger } from './logger.js'
import { claimSlot, createWatchTable, releaseSlots } from './watch-table.js'

export type WatchOptions = {
  /** Of the thread, for the message. */
  name: string
  /** 0: not watched. */
  limitMs: number
  logger: Pick<Logger, 'warn'>
}

/** Worker threads inherit it, so that all threads share one watcher. */
const INHERITED = 'dextape.watchdog'
const LONGEST_PERIOD_MS = 1000
const CHECKS_PER_LIMIT = 4

/**
 * Watches the calling thread; returns what ends the watch. Call it first in the main thread: worker threads started afterwards
 * use the same watcher.
 */
export function watchEventLoop({ name, limitMs, logger }: WatchOptions): () => void {
  if (limitMs === 0) return () => {}
  const { table, periodMs } = inheritedWatcher() ?? startWatcher(limitMs, logger)
  const slot = claimSlot(table, name, limitMs)
  if (slot === undefined) {
    logger.warn('too many threads: the event loop of one is not watched', { thread: name })
    return () => {}
  }
  const timer = setInterval(() => slot.tick(inspectorUrl() !== undefined), periodMs).unref()
  return () => {
    clearInterval(timer)
    slot.release()
  }
}

/** Call it when a watched thread has ended: it cannot do so itself if it was terminated. */
export function endWatchOf(name: string): void {
  const watcher = inheritedWatcher()
  if (watcher !== undefined) releaseSlots(watcher.table, name)
}

function inheritedWatcher(): WatcherData | undefined {
  return getEnvironmentData(INHERITED) as unknown as WatcherData | undefined
}

function startWatcher(limitMs: number, logger: Pick<Logger, 'warn'>): WatcherData {
  const periodMs = Math.min(LONGEST_PERIOD_MS, limitMs / CHECKS_PER_LIMIT)
  const watcher: WatcherData = { table: createWatchTable(), periodMs }
  setEnvironmentData(INHERITED, watcher as never)
  const worker = new Worker(new URL('./event-loop-watcher.js', import.meta.url), {
    workerData: watcher,
    name: 'watchdog',
    // Nothing of the process's own options: it must start small, and whatever they preload.
    ...{ execArgv: [], env: {} },
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
  })
  worker.on('error', (error) => logger.warn('the watchdog has failed: event loops are not watched', { error }))
  worker.unref()
  return watcher
}
