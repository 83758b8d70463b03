/**
 * LMDB has its files mapped into memory: an access beyond the end of one that was cut is a SIGBUS, which would end the process
 * without a word. With a listener the access is tried again instead, for ever, in the thread that made it. Meanwhile a thread that
 * does not use LMDB sees that the file is shorter, names it and ends the process.
 */
import { writeSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import type { Logger } from '../../core/runtime/logger.js'
import { killMyself } from '../../core/runtime/shutdown.js'

const STDERR = 2
/** A cut is seen within a quarter of a second, on a busy machine within one. */
const NO_CUT_MS = 5000

/** Returns how to end it. */
export function guardMappedFiles(dir: DataDir, logger: Pick<Logger, 'warn'>): () => Promise<void> {
  const watcher = new Worker(new URL('./cut-files-thread.js', import.meta.url), {
    workerData: dir,
    name: 'cut files',
    ...{ execArgv: [], env: {} },
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
  })
  let isListening = false
  let isUnread = false
  /** Called if another thread made the access; if this one did, the watchdog finds it. */
  const onSigbus = () => {
    if (!isUnread) setTimeout(endUnread, NO_CUT_MS)
    isUnread = true
  }
  function ignoreSigbus(): void {
    if (isListening) process.off('SIGBUS', onSigbus)
    isListening = false
  }
  // V8 uses this signal itself on other systems.
  if (process.platform === 'linux')
    watcher.once('online', () => {
      isListening = true
      process.on('SIGBUS', onSigbus)
    })
  watcher.on('error', (error) => {
    // Nobody would end the process.
    ignoreSigbus()
    logger.warn('files that are cut while in use are not noticed', { error })
  })
  watcher.unref()
  return async () => {
    ignoreSigbus()
    await watcher.terminate()
  }
}

function endUnread(): void {
  const what = 'the system cannot read a file of the data directory (SIGBUS)'
  writeSync(
    STDERR,
    `dextape: ${what}; ending the process. Check the disk, then start it again: a start repairs the data.\n`,
  )
  killMyself()
}
