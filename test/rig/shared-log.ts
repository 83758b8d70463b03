/** One log on disk, opened as several processes would have it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedLog } from '../../services/core/log/embedded-log.js'
import type { EventLog } from '../../services/core/log/port.js'

export type SharedLog = { open(): EventLog; close(): Promise<void> }

export function sharedLog(): SharedLog {
  const path = mkdtempSync(join(tmpdir(), 'dextape-shared-'))
  const logs: EventLog[] = []
  return {
    open() {
      const log = openEmbeddedLog({ path })
      logs.push(log)
      return log
    },
    async close() {
      for (const log of logs) await log.close()
      rmSync(path, { recursive: true, force: true })
    },
  }
}
