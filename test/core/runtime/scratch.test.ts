import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const MODULE = new URL('../../../dist/services/core/runtime/scratch.js', import.meta.url).href
/** Above the highest pid of any system. */
const DEAD = 2 ** 30

let temporary: string
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'dextape-scratch-'))
  // Like the system's: everyone can create, only the owner can delete.
  chmodSync(temporary, 0o1777)
})
afterEach(() => rmSync(temporary, { recursive: true }))

function leave(name: string): string {
  const folder = join(temporary, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'file'), '')
  return folder
}

/** @returns the name of the folder that a new process creates. */
function openScratch(uid?: number): string {
  const program = `import { basename } from 'node:path'; import { newScratch } from '${MODULE}'; console.log(basename(newScratch('mine-')))`
  const ended = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, TMPDIR: temporary },
    encoding: 'utf8',
    uid,
  })
  expect(ended.stderr).toBe('')
  return ended.stdout.trim()
}

test('removes the folders of dead processes, and keeps those of running ones and other names', () => {
  leave(`mine-${DEAD}-abc`)
  leave(`mine-${process.pid}-abc`)
  leave(`other-${DEAD}-abc`)
  const own = openScratch()
  expect(readdirSync(temporary).sort()).toEqual([own, `mine-${process.pid}-abc`, `other-${DEAD}-abc`].sort())
})

// Only root can start a process as another user.
test.runIf(process.getuid?.() === 0)('creates a folder despite one of another user that it cannot remove', () => {
  const left = leave(`mine-${DEAD}-abc`)
  const own = openScratch(65_534)
  expect(existsSync(join(left, 'file'))).toBe(true)
  expect(existsSync(join(temporary, own))).toBe(true)
})
