import { execFileSync, spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { dropReplayedRows } from '../../../services/aggregate/replay/replayed-rows.js'
import { openStore } from '../../../services/core/store/clickhouse-store.js'
import { enginePathOf } from '../../../services/core/store/local-store.js'
import type { Store } from '../../../services/core/store/port.js'
import { RowWriter } from '../../../services/core/store/row-binary.js'
import { createStoreFileList, findChangedFiles, storeFilesOf } from '../../../services/core/store/store-files.js'
import { replayDatabase, rowVersion } from '../../../services/core/store/tables.js'

const dataDir = mkdtempSync(join(tmpdir(), 'dextape-files-'))
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

it('takes nothing out of the pipe of an export', async () => {
  const folder = join(enginePathOf(dataDir), 'streams')
  mkdirSync(folder, { recursive: true })
  const pipe = join(folder, '1-2-3')
  execFileSync('mkfifo', [pipe])
  // Waits until somebody reads.
  const engine = spawn('sh', ['-c', 'printf rows > "$0"', pipe])
  await createStoreFileList(dataDir).save()
  const exported = execFileSync('timeout', ['5', 'cat', pipe], { encoding: 'utf8' })
  expect(exported).toBe('rows')
  engine.kill()
  expect(existsSync(storeFilesOf(dataDir))).toBe(true)
  expect(readFileSync(storeFilesOf(dataDir), 'utf8')).not.toContain('streams')
})

it('misses no table of a replay that is dropped, but one of the others', async () => {
  const path = enginePathOf(dataDir)
  const [live, beside] = await Promise.all(
    ['dextape', replayDatabase('dextape', 'eth')].map((database) => openStore({ kind: 'embedded', path, database })),
  )
  for (const store of [live, beside]) {
    await store?.migrate()
    await store?.insertRows('progress_rows', progressRow())
  }
  await createStoreFileList(dataDir).save()
  await dropReplayedRows(live as Store, 'eth')
  await beside?.close()
  await live?.close()
  expect(findChangedFiles(dataDir)).toEqual([])
  const [link] = readdirSync(join(path, 'data', 'dextape')).filter((name) => name === 'progress_rows')
  rmSync(realpathSync(join(path, 'data', 'dextape', link ?? '')), { recursive: true })
  expect(findChangedFiles(dataDir).length).toBeGreaterThan(0)
})

it('keeps no list that was begun before the tables changed, and the same one again after', async () => {
  mkdirSync(enginePathOf(dataDir), { recursive: true })
  writeFileSync(join(enginePathOf(dataDir), 'a.sql'), 'a table')
  const files = createStoreFileList(dataDir)
  const begun = files.save()
  await Promise.resolve()
  files.drop()
  await begun
  expect(existsSync(storeFilesOf(dataDir))).toBe(false)
  await files.save()
  const list = readFileSync(storeFilesOf(dataDir), 'utf8')
  files.drop()
  await files.save()
  expect(readFileSync(storeFilesOf(dataDir), 'utf8')).toBe(list)
})

it('has what was there when the last of several lists was asked for', async () => {
  mkdirSync(enginePathOf(dataDir), { recursive: true })
  const files = createStoreFileList(dataDir)
  const lists: Promise<void>[] = []
  for (const name of ['a.sql', 'b.sql', 'c.sql']) {
    writeFileSync(join(enginePathOf(dataDir), name), name)
    lists.push(files.save())
    // The first one has begun.
    await Promise.resolve()
  }
  await lists[1]
  const list = readFileSync(storeFilesOf(dataDir), 'utf8')
  for (const name of ['a.sql', 'b.sql', 'c.sql']) expect(list).toContain(name)
  // Those that wait are one.
  expect(lists[2]).toBe(lists[1])
})

function progressRow(): Uint8Array {
  const writer = new RowWriter('progress_rows')
  writer.row(['eth', 1, 1, 1, '0x1', 1, 1, 1, rowVersion(1, 1)])
  return writer.finish()
}
