import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findDataDir, openDataDir } from '../../../services/core/data-dir/data-dir.js'
import { lockDataDir, lockHolder } from '../../../services/core/data-dir/lock.js'

const folder = () => mkdtempSync(join(tmpdir(), 'dextape-dir-'))

describe('the data directory', () => {
  it('is created with its version, and found again', () => {
    const path = join(folder(), 'deep/data')
    expect(openDataDir(path)).toMatchObject({ path, version: 1, logPath: join(path, 'log') })
    expect(readFileSync(join(path, 'VERSION'), 'utf8')).toBe('1\n')
    expect(findDataDir(path)).toEqual(openDataDir(path))
  })

  it('is not created by a command that only reads', () => {
    const path = join(folder(), 'none')
    expect(() => findDataDir(path)).toThrow(/No data directory at .*DEXTAPE_DATA_DIR/)
    expect(() => findDataDir(path)).toThrow(expect.objectContaining({ name: 'ConfigError' }))
  })

  it('of a newer version is rejected', () => {
    const path = folder()
    writeFileSync(join(path, 'VERSION'), '999\n')
    expect(() => openDataDir(path)).toThrow(/newer version of Dextape; expected version 1 or older; got version 999/)
    expect(() => findDataDir(path)).toThrow(expect.objectContaining({ name: 'ConfigError', code: 'data_dir_newer' }))
  })

  it('with an unknown VERSION file is rejected', () => {
    const path = folder()
    writeFileSync(join(path, 'VERSION'), 'v3-beta')
    expect(() => openDataDir(path)).toThrow('does not contain a version number')
  })

  it('that is a file, or cannot be created, is rejected', () => {
    const file = join(folder(), 'file')
    writeFileSync(file, '')
    for (const path of [file, join(file, 'below'), '/proc/dextape'])
      expect(() => openDataDir(path)).toThrow(
        expect.objectContaining({ name: 'ConfigError', code: 'data_dir_unusable' }),
      )
  })
})

describe('the lock', () => {
  it('keeps a second process out until it is released', () => {
    const dir = openDataDir(folder())
    const lock = lockDataDir(dir)
    expect(lockHolder(dir)).toEqual({ pid: process.pid })
    expect(() => lockDataDir(dir)).toThrow(`Another dextape (process ${process.pid}) is running`)
    lock.release()
    expect(lockHolder(dir)).toBeUndefined()
    lockDataDir(dir).release()
    expect(readdirSync(dir.path)).toEqual(['VERSION'])
  })

  it('of a dead process is replaced', () => {
    const dir = openDataDir(folder())
    const { pid } = spawnSync('true')
    writeFileSync(dir.lockPath, JSON.stringify({ pid, started: 'x' }))
    lockDataDir(dir).release()
  })

  it('of an earlier process with the same pid is replaced, as in a restarted container', () => {
    const dir = openDataDir(folder())
    writeFileSync(dir.lockPath, JSON.stringify({ pid: process.pid, started: 'an earlier boot' }))
    lockDataDir(dir).release()
  })

  it('is replaced if it is garbage', () => {
    const dir = openDataDir(folder())
    writeFileSync(dir.lockPath, '')
    lockDataDir(dir).release()
  })
})
