import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { enginePathOf } from '../../../services/core/store/local-store.js'
import { createStoreFileList, storeFilesOf } from '../../../services/core/store/store-files.js'

const dataDir = mkdtempSync(join(tmpdir(), 'dextape-files-'))
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

it('takes nothing out of the pipe of an export', async () => {
  const folder = join(enginePathOf(dataDir), 'streams')
  mkdirSync(folder, { recursive: true })
  const pipe = join(folder, '1-2-3')
  execFileSync('mkfifo', [pipe])
  // Waits until somebody reads.
  const engine = spawn('sh', ['-c', 'printf rows > "$0"', pipe])
  createStoreFileList(dataDir).save()
  const exported = execFileSync('timeout', ['5', 'cat', pipe], { encoding: 'utf8' })
  expect(exported).toBe('rows')
  engine.kill()
  expect(existsSync(storeFilesOf(dataDir))).toBe(true)
  expect(readFileSync(storeFilesOf(dataDir), 'utf8')).not.toContain('streams')
})
