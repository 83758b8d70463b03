/** LMDB files that are cut, grow or are replaced while in use. */
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type DataDir, openDataDir } from '../../services/core/data-dir/data-dir.js'
import { damageMarkOf, dataFileOf } from '../../services/core/log/lmdb-file.js'
import { problemOf } from '../../services/processes/repair/heal-at-start.js'
import { type CutWatch, watchCutFiles } from '../../services/processes/repair/watch-cut-files.js'

const PAGE = 4096

let dir: DataDir
let cuts: string[]
let watch: CutWatch
beforeEach(() => {
  dir = openDataDir(join(mkdtempSync(join(tmpdir(), 'dextape-cut-')), 'data'))
  for (const folder of [dir.logPath, join(dir.statePath, 'eth')]) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(dataFileOf(folder), Buffer.alloc(64 * PAGE, 1))
  }
  cuts = []
  watch = watchCutFiles(dir, (what) => cuts.push(what))
})
afterEach(() => rmSync(join(dir.path, '..'), { recursive: true, force: true }))

it('names a cut log with its sizes, and the next start checks every record', () => {
  const file = dataFileOf(dir.logPath)
  appendFileSync(file, Buffer.alloc(PAGE, 1))
  watch.look()
  expect(cuts).toEqual([])
  truncateSync(file, PAGE)
  watch.look()
  expect(cuts).toEqual([`${file} was cut from ${65 * PAGE} to ${PAGE} bytes while in use`])
  expect(problemOf(dir.logPath)).toBeDefined()
  expect(() => rmSync(damageMarkOf(dir.logPath))).not.toThrow()
})

it('names a log that a write has made long again after it was cut', () => {
  const file = dataFileOf(dir.logPath)
  truncateSync(file, 8 * PAGE)
  const fd = openSync(file, 'r+')
  writeSync(fd, Buffer.alloc(PAGE, 1), 0, PAGE, 64 * PAGE)
  closeSync(fd)
  watch.look()
  expect(cuts).toEqual([
    expect.stringMatching(new RegExp(`^${file} lost \\d+ of its ${65 * PAGE} bytes while in use$`)),
  ])
})

it('takes a checkpoint that a replay replaced for another file, and watches that one', () => {
  const folder = join(dir.statePath, 'eth')
  const replayed = join(dir.path, 'replayed')
  mkdirSync(replayed)
  writeFileSync(dataFileOf(replayed), Buffer.alloc(PAGE, 1))
  rmSync(folder, { recursive: true })
  renameSync(replayed, folder)
  watch.look()
  watch.list()
  expect(cuts).toEqual([])
  truncateSync(dataFileOf(folder), 100)
  watch.look()
  expect(cuts).toEqual([`${dataFileOf(folder)} was cut from ${PAGE} to 100 bytes while in use`])
})

it('names a log that is removed, also where another process has created an empty one since', () => {
  const file = dataFileOf(dir.logPath)
  // As the server has it.
  const fd = openSync(file, 'r')
  rmSync(file)
  writeFileSync(file, Buffer.alloc(64 * PAGE, 1))
  watch.look()
  closeSync(fd)
  expect(cuts).toEqual([`${file} was removed while in use`])
  expect(problemOf(dir.logPath)).toBeDefined()
  rmSync(damageMarkOf(dir.logPath))
  watch.list()
  rmSync(dir.logPath, { recursive: true })
  watch.look()
  expect(cuts.slice(1)).toEqual([`${file} was removed while in use`])
})
