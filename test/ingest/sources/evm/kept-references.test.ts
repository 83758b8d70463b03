import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keptReferences } from '../../../../services/ingest/sources/evm/kept-references.js'

test('kept for the pools they were chosen for; what a crash left of them is chosen again, not a reason to stop', () => {
  const folder = mkdtempSync(join(tmpdir(), 'references-'))
  try {
    const kept = keptReferences(join(folder, 'base'), ['0xb', '0xa'])
    expect(kept.read()).toBeUndefined()
    kept.write(['0x1', '0x2'])
    expect(keptReferences(join(folder, 'base'), ['0xa', '0xb']).read()).toEqual(['0x1', '0x2'])
    expect(keptReferences(join(folder, 'base'), ['0xa']).read()).toBeUndefined()
    for (const left of ['{"key":"0xa,0x', '', 'null', '{"key":"0xa,0xb"}']) {
      writeFileSync(join(folder, 'base', 'reference-pools.json'), left)
      expect(kept.read()).toBeUndefined()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
