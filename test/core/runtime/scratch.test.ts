import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const MODULE = new URL('../../../dist/services/core/runtime/scratch.js', import.meta.url).href
/** Above the highest id a system gives. */
const DEAD = 2 ** 30

let temporary: string
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'dextape-scratch-'))
  // As the system's own: everybody may make, only the owner may remove.
  chmodSync(temporary, 0o1777)
})
afterEach(() => rmSync(temporary, { recursive: true }))

function leave(name: string): string {
  const folder = join(temporary, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'file'), '')
  return folder
}

/** @returns the new folder's name, from a process of its own. */
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

test('what a killed process left is removed, what a living one uses and what is called otherwise stays', () => {
  leave(`mine-${DEAD}-abc`)
  leave(`mine-${process.pid}-abc`)
  leave(`other-${DEAD}-abc`)
  const own = openScratch()
  expect(readdirSync(temporary).sort()).toEqual([own, `mine-${process.pid}-abc`, `other-${DEAD}-abc`].sort())
})

// Permission bits do not bind the administrator, who alone can start it as somebody else.
test.runIf(process.getuid?.() === 0)('what another user left stays, and a folder is made all the same', () => {
  const left = leave(`mine-${DEAD}-abc`)
  const own = openScratch(65_534)
  expect(existsSync(join(left, 'file'))).toBe(true)
  expect(existsSync(join(temporary, own))).toBe(true)
})
