/** One log on disk, opened as several processes would have it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedLog } from '../../services/core/log/embedded-log.js'
import type { EventLog } from '../../services/core/log/port.js'

export type SharedLog = { open(): EventLog; close(): Promise<void> }

/**
 * Opened before any of them writes: opening blocks this thread until LMDB's writer lock is free, and a writer of this thread
 * frees it only once the thread goes on. Real processes share no thread.
 */
const OPENED_AHEAD = 6

export function sharedLog(): SharedLog {
  const path = mkdtempSync(join(tmpdir(), 'dextape-shared-'))
  const logs: EventLog[] = []
  const openOne = (): EventLog => {
    const log = openEmbeddedLog({ path })
    logs.push(log)
    return log
  }
  const ahead = Array.from({ length: OPENED_AHEAD }, openOne)
  return {
    open: () => ahead.pop() ?? openOne(),
    async close() {
      for (const log of logs) await log.close()
      rmSync(path, { recursive: true, force: true })
    },
  }
}
