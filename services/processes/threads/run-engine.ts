/**
 * The engine runs in one thread for the life of the process: the end of any thread that has loaded it closes it for all. So the
 * others use its socket, and a process whose engine has failed ends.
 */
import { writeSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { Logger } from '../../core/runtime/logger.js'
import { killMyself } from '../../core/runtime/shutdown.js'
import { keepEngineLoaded } from '../../core/store/embedded-engine.js'
import type { EngineData, EngineMain, EngineMethods } from './engine-thread.js'
import { openLink } from './thread-link.js'

export function createEngineThread(data: EngineData, logger: Logger, owner: EngineMain) {
  let worker: Worker | undefined
  let stopEngine = async (): Promise<void> => {}
  let isStopping = false

  return {
    /** Fails if the store cannot be opened. */
    async start(): Promise<void> {
      worker = new Worker(new URL('./engine-thread.js', import.meta.url), { name: 'engine', workerData: data })
      const link = openLink<EngineMethods>(worker, owner)
      worker.on('error', (error) => {
        if (isStopping) return logger.error('the engine failed while it was stopped', { error })
        writeSync(process.stderr.fd, `dextape: the embedded engine failed: ${error.stack ?? error.message}\n`)
        killMyself()
      })
      stopEngine = () => link.call('stop')
      await link.call('open')
      await keepEngineLoaded()
    },
    async stop(): Promise<void> {
      isStopping = true
      await stopEngine().catch(() => {})
      await worker?.terminate()
    },
  }
}
