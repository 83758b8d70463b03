/** How far an export is: the bytes of a file, or the rows of a folder, and a summary at its end. */
import type { Config } from '../../core/config/index.js'
import { grouped } from '../../core/runtime/progress.js'
import { loggerOf, progressOf, type World } from '../context.js'

export interface ExportProgress {
  /** A folder has this many files with this many rows. */
  expect(files: number, rows: number): void
  add(bytes: number): void
  endFile(rows: number): void
  /** Removes the bar; with a path, prints what was written there. */
  end(path?: string, asOf?: string): void
}

export function createExportProgress(world: World, config: Config): ExportProgress {
  const logger = loggerOf(world, config)
  const start = (unit: string) => progressOf(world, logger, { message: 'exporting', unit })
  const startMs = world.nowMs()
  let shown = start('bytes')
  let bytes = 0
  let rows = 0
  let expected: { files: number; rows: number } | undefined

  return {
    expect(files, all) {
      shown.end()
      shown = start('rows')
      expected = { files, rows: all }
    },
    add(more) {
      bytes += more
      if (expected === undefined) shown.report(bytes)
    },
    endFile(more) {
      rows += more
      shown.report(rows, expected?.rows)
    },
    end(path, asOf = '') {
      shown.end()
      if (path === undefined) return
      const counts =
        expected === undefined ? '' : `${grouped(expected.rows)} rows in ${grouped(expected.files)} files, `
      const seconds = ((world.nowMs() - startMs) / 1000).toFixed(1)
      const state = asOf === '' ? '' : `, as of ${asOf}`
      world.stderr.write(`${path}: ${counts}${(bytes / 1e6).toFixed(1)} MB in ${seconds} s${state}\n`)
    },
  }
}
