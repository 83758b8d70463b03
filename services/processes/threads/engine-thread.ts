/** The thread of `up` that runs the embedded engine, and serves it on its socket to the other threads. */
import { parentPort, workerData } from 'node:worker_threads'
import { createLogger, type LogFormat } from '../../core/runtime/logger.js'
import { watchEventLoop } from '../../core/runtime/watchdog.js'
import { openSession } from '../../core/store/embedded-engine.js'
import { type EngineOwner, serveEngine } from '../../core/store/engine-socket.js'
import { enginePathOf, socketPathOf } from '../../core/store/local-store.js'
import { removeOldRowsFiles } from '../../core/store/rows-file.js'
import { openLink } from './thread-link.js'

export type EngineMethods = { open(): Promise<void>; stop(): Promise<void> }

/** What other processes may ask for. */
export type EngineMain = EngineOwner

export type EngineData = { dataDir: string; watchdogMs: number; logFormat: LogFormat }

const { dataDir, watchdogMs, logFormat } = workerData as EngineData
if (parentPort === null) throw new Error('runs only as a thread')
const main = openLink<EngineMain>(parentPort, { open: () => opened.then(() => {}), stop })
const opened = open()
// Reported to whoever calls.
opened.catch(() => {})

async function open() {
  const path = enginePathOf(dataDir)
  const session = await openSession(path)
  removeOldRowsFiles(path)
  const socket = await serveEngine(path, socketPathOf(dataDir), {
    flush: () => main.call('flush'),
    append: (topic, entries) => main.call('append', topic, entries),
  })
  // Opening a large store may take longer than the event loop may stand.
  watchEventLoop({ name: 'engine', limitMs: watchdogMs, logger: createLogger(logFormat) })
  return { session, socket }
}

async function stop(): Promise<void> {
  const { session, socket } = await opened
  await socket.close()
  await session.close()
}
