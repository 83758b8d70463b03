/** LMDB files that are cut, grow or are replaced while in use. */
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type DataDir, openDataDir } from '../../services/core/data-dir/data-dir.js'
import { damageMarkOf, dataFileOf } from '../../services/core/log/salvage-log.js'
import { problemOf } from '../../services/processes/repair/heal-at-start.js'
import { watchCutFiles } from '../../services/processes/repair/watch-cut-files.js'

let dir: DataDir
let cuts: string[]
let stop: () => void
beforeEach(() => {
  dir = openDataDir(join(mkdtempSync(join(tmpdir(), 'dextape-cut-')), 'data'))
  for (const folder of [dir.logPath, join(dir.statePath, 'eth')]) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(dataFileOf(folder), Buffer.alloc(8192))
  }
  cuts = []
  stop = watchCutFiles(dir, { onCut: (text) => cuts.push(text), listEveryMs: 20 })
})
afterEach(() => {
  stop()
  rmSync(join(dir.path, '..'), { recursive: true, force: true })
})

const untilCut = (text: string) => vi.waitFor(() => expect(cuts).toContain(text), 5000)

it('names a cut log with its sizes, and the next start checks every record', async () => {
  const file = dataFileOf(dir.logPath)
  appendFileSync(file, Buffer.alloc(4096))
  truncateSync(file, 4096)
  await vi.waitFor(
    () => expect(cuts).toEqual([expect.stringMatching(/^.+data\.mdb was cut from \d+ to 4096 bytes/)]),
    5000,
  )
  expect(problemOf(dir.logPath)).toBeDefined()
  expect(() => rmSync(damageMarkOf(dir.logPath))).not.toThrow()
})

it('takes a checkpoint that a replay replaced for another file, and watches that one', async () => {
  const folder = join(dir.statePath, 'eth')
  const replayed = join(dir.path, 'replayed')
  mkdirSync(replayed)
  writeFileSync(dataFileOf(replayed), Buffer.alloc(4096))
  rmSync(folder, { recursive: true })
  renameSync(replayed, folder)
  // Long enough for the next listing.
  await sleep(200)
  expect(cuts).toEqual([])
  truncateSync(dataFileOf(folder), 100)
  await untilCut(`${dataFileOf(folder)} was cut from 4096 to 100 bytes while in use`)
})
