/** The market's state in the data directory: replaced whole, so that a crash leaves the one before. */
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { DataDir } from '../../../core/data-dir/data-dir.js'
import type { SnapshotStore } from './market-snapshots.js'

export function fileSnapshots(dir: Pick<DataDir, 'path'>): SnapshotStore {
  const folder = join(dir.path, 'simulator')
  const file = join(folder, 'market.json')
  return {
    async load() {
      try {
        return await readFile(file, 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
    async save(snapshot) {
      await mkdir(folder, { recursive: true })
      const draft = await open(`${file}.draft`, 'w')
      try {
        await draft.writeFile(snapshot)
        await draft.sync()
      } finally {
        await draft.close()
      }
      await rename(`${file}.draft`, file)
    },
  }
}
