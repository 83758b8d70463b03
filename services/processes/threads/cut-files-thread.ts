/** The thread that notices LMDB files being cut; started by guard-mapped-files.ts. It must not use LMDB itself. */
import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import { killMyself } from '../../core/runtime/shutdown.js'
import { watchCutFiles } from '../repair/watch-cut-files.js'

/**
 * Takes 0.1 % of a core. The kernel's notices, which come with every write, took 0.15 ms for each append to the log. Blocks
 * instead of using a timer: a thread with an idle event loop takes ten times the CPU.
 */
const LOOK_EVERY_MS = 250
const LOOKS_PER_LIST = 40
const STDERR = 2

const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
const watch = watchCutFiles(workerData as DataDir, (what) => {
  // An orderly stop would read the file.
  writeSync(STDERR, `dextape: ${what}; ending the process. Start it again: a start repairs the data directory.\n`)
  killMyself()
})
for (let looks = 1; ; looks += 1) {
  Atomics.wait(never, 0, 0, LOOK_EVERY_MS)
  watch.look()
  if (looks % LOOKS_PER_LIST === 0) watch.list()
}
