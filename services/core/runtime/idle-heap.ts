/**
 * Gives memory back after a busy phase. V8 keeps the heap that reading a history needed until its next full collection,
 * which a process that then has little to do reaches hours later.
 */
import { performance } from 'node:perf_hooks'

const CHECK_MS = 15_000
/**
 * Share of the time the event loop is busy, below which a collection disturbs nobody: it takes 100 to 600 ms at once. A busier
 * thread comes to a collection of its own, most of which runs beside it.
 */
const IDLE_UTILIZATION = 0.05
/** By then the batch with the last rows of the busy phase is stored. */
const IDLE_CHECKS = 3

/** Collects garbage once after each busy phase. Ends with the signal. */
export function collectAfterBusyPhases(signal: AbortSignal): void {
  let before = performance.eventLoopUtilization()
  let idleChecks = 0
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    idleChecks = utilization < IDLE_UTILIZATION ? idleChecks + 1 : 0
    if (idleChecks === IDLE_CHECKS) void collectGarbage()
  }, CHECK_MS).unref()
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}

/** As on low memory: also shrinks the young generation, which `gc()` does not. */
async function collectGarbage(): Promise<void> {
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  try {
    await session.post('HeapProfiler.collectGarbage')
  } finally {
    session.disconnect()
  }
}
