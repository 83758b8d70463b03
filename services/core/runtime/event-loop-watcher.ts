/** The thread that watches the others; started by watchdog.ts. */
import { write } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { killMyself } from './shutdown.js'
import { createSilenceJudge, type SilentThread } from './silent-threads.js'
import { type WatchTable, watchedThreads } from './watch-table.js'

export type WatcherData = { table: WatchTable; periodMs: number }

const { table, periodMs } = workerData as WatcherData
/** Not `process.stderr`: in a worker that is written by the main thread. */
const STDERR = 2
/** If nobody reads stderr, the process must end all the same. */
const LONGEST_WRITE_MS = 1000

end(waitForSilence())

/** Blocks instead of using a timer: a thread with an idle event loop takes ten times the CPU. */
function waitForSilence(): SilentThread {
  const judge = createSilenceJudge(periodMs)
  const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  for (let checkedAtMs = performance.now(); ; ) {
    Atomics.wait(never, 0, 0, periodMs)
    const nowMs = performance.now()
    const silent = judge.check(watchedThreads(table), nowMs - checkedAtMs)
    checkedAtMs = nowMs
    if (silent !== undefined) return silent
  }
}

function end({ name, limitMs }: SilentThread): void {
  const reason = `the event loop of thread "${name}" has not run for ${limitMs / 1000} s`
  const text = `dextape: ${reason}; killing the process so that its supervisor restarts it (DEXTAPE_WATCHDOG_S)\n`
  setTimeout(killMyself, LONGEST_WRITE_MS)
  write(STDERR, text, killMyself)
}
