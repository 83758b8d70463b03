import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type DataDir, openDataDir } from '../../../services/core/data-dir/data-dir.js'
import { claimOf, claimOrigin, originOf } from '../../../services/core/data-dir/origin.js'

let dir: DataDir

beforeEach(() => {
  dir = openDataDir(mkdtempSync(join(tmpdir(), 'dextape-origin-')))
})
afterEach(() => rmSync(dir.path, { recursive: true, force: true }))

describe('the origin of a data directory', () => {
  it('is unset until it is claimed, and then stays', () => {
    expect(originOf(dir.path)).toBeUndefined()
    claimOrigin(dir, { origin: 'simulated', seed: 7 }, claimOf(dir.path))
    claimOrigin(dir, { origin: 'simulated', seed: 7 }, claimOf(dir.path))
    expect(originOf(dir.path)).toBe('simulated')
    expect(readFileSync(join(dir.path, 'ORIGIN'), 'utf8')).toBe('simulated 7\n')
  })

  it.each([
    ['real', { origin: 'real' }, { origin: 'simulated', seed: 7 }],
    ['simulated (seed 7)', { origin: 'simulated', seed: 7 }, { origin: 'real' }],
    ['simulated (seed 7)', { origin: 'simulated', seed: 7 }, { origin: 'simulated', seed: 8 }],
  ] as const)('of %s data refuses other data', (held, first, second) => {
    claimOrigin(dir, first, claimOf(dir.path))
    expect(() => claimOrigin(dir, second, claimOf(dir.path))).toThrow(
      expect.objectContaining({ code: 'data_mixed', message: expect.stringContaining(`holds ${held} data`) }),
    )
    expect(originOf(dir.path)).toBe(first.origin)
  })

  it('is real for a log written before origins were recorded', () => {
    mkdirSync(dir.logPath)
    expect(originOf(dir.path)).toBe('real')
    expect(() => claimOrigin(dir, { origin: 'simulated', seed: 7 }, claimOf(dir.path))).toThrow(
      expect.objectContaining({ code: 'data_mixed' }),
    )
    claimOrigin(dir, { origin: 'real' }, claimOf(dir.path))
    expect(originOf(dir.path)).toBe('real')
  })

  it('is an error if its file is unreadable', () => {
    writeFileSync(join(dir.path, 'ORIGIN'), 'maybe\n')
    expect(() => originOf(dir.path)).toThrow(expect.objectContaining({ code: 'data_origin_unknown' }))
  })
})
