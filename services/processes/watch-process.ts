import type { Config } from '../core/config/index.js'
import type { Logger } from '../core/runtime/logger.js'
import { CONTAINER_LIMIT, heapLimit, warnNearMemoryLimits } from '../core/runtime/memory-limits.js'
import { watchEventLoop } from '../core/runtime/watchdog.js'

type Watched = { config: Pick<Config, 'watchdogMs'>; logger: Logger }

/** Watches the main thread and the memory of a process; returns what ends the watch of the thread. */
export function watchProcess({ config, logger }: Watched, signal: AbortSignal): () => void {
  warnNearMemoryLimits([heapLimit('main'), CONTAINER_LIMIT], logger, signal)
  return watchEventLoop({ name: 'main', limitMs: config.watchdogMs, logger })
}
