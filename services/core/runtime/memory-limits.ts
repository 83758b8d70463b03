/** Warns before a process is ended for lack of memory: by V8 at its heap limit, or by the system at the container's. */
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import type { Logger } from './logger.js'

const CHECK_MS = 10_000
const WARN_AT = 0.9
/** Below this the next warning is allowed. */
const FINE_AT = 0.8
const MB = 1_048_576

export type MemoryLimit = { usedBytes: number; limitBytes: number }
export type Limit = { what: string; fix: string; read: () => MemoryLimit | undefined }

/** Each thread has its own heap. */
export const heapLimit = (thread: string): Limit => ({
  what: `JavaScript heap of thread ${thread}`,
  fix: 'Raise --max-old-space-size in NODE_OPTIONS, or lower `capacity`.',
  read() {
    const { used_heap_size: usedBytes, heap_size_limit: limitBytes } = getHeapStatistics()
    return { usedBytes, limitBytes }
  },
})

export const CONTAINER_LIMIT: Limit = {
  what: 'memory of the container',
  fix: 'Raise its memory limit.',
  read() {
    const limitBytes = process.constrainedMemory()
    // Without a limit it is 0, or more than there is.
    if (limitBytes === 0 || limitBytes >= totalmem()) return undefined
    return { usedBytes: process.memoryUsage.rss(), limitBytes }
  },
}

/** Ends with the signal. */
export function warnNearMemoryLimits(
  limits: readonly Limit[],
  logger: Pick<Logger, 'warn'>,
  signal: AbortSignal,
  checkMs = CHECK_MS,
): void {
  const warned = new Set<Limit>()
  const timer = setInterval(() => {
    for (const limit of limits) {
      const { usedBytes, limitBytes } = limit.read() ?? { usedBytes: 0, limitBytes: 1 }
      const share = usedBytes / limitBytes
      if (share < FINE_AT) warned.delete(limit)
      if (share < WARN_AT || warned.has(limit)) continue
      warned.add(limit)
      const { what, fix } = limit
      const [used_mb, limit_mb] = [Math.round(usedBytes / MB), Math.round(limitBytes / MB)]
      logger.warn('memory is close to its limit; the process ends when it is used up', { what, used_mb, limit_mb, fix })
    }
  }, checkMs).unref()
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}
