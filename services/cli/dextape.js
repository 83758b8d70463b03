#!/usr/bin/env -S MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=32768 node --max-semi-space-size=32
// The flag: folding creates many short-lived objects; with V8's default of 16 MB a third of the time is garbage collection.
// The variables: glibc returns freed buffers to the system instead of keeping them after a history is read.
// Plain JavaScript, so that a checkout without a build can report what is missing.
import { existsSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { setFlagsFromString } from 'node:v8'

// Sessions of the embedded engine run on this pool and would fill the default of four threads.
process.env.UV_THREADPOOL_SIZE ??= '8'

// LMDB's values here are bytes and JSON: its encoder needs no native part, which every thread would load.
process.env.MSGPACKR_NATIVE_ACCELERATION_DISABLED ??= 'true'

// V8 of Node 20 optimises code after some thousand steps. Each thread does so for itself: half of it ran for a moment only.
const isSet = process.execArgv.some((flag) => flag.startsWith('--interrupt-budget'))
if (process.versions.node.startsWith('20.') && !isSet) setFlagsFromString('--interrupt-budget=500000')

// The heap of this thread has its size; the flag would hold for those of all other threads. From here on V8's flags stay as they
// are: compiled code is kept for one set of them (services/core/runtime/code-cache.ts).
setFlagsFromString('--max-semi-space-size=0')

// Before its modules are loaded: a replay has the CPU last, and clients of a running server wait for live blocks meanwhile.
if (process.argv[2] === 'replay') setPriority(constants.priority.PRIORITY_LOW)

const main = new URL('../../dist/bundle/main.js', import.meta.url)
if (existsSync(main)) {
  await import(main.href)
} else {
  process.stderr.write('dextape: this checkout is not built. Run `npm install && npm run build` first.\n')
  process.exitCode = 1
}
