import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ZERO_ADDRESS } from '../../../../../services/core/domain/chains.js'
import { openKeptSums } from '../../../../../services/ingest/sources/evm/holders/transfer-sums.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dextape-sums-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const path = () => join(folder, 'holders-0x1')
const minted = { from: ZERO_ADDRESS, to: '0xa', amount: 100n }
const moved = { from: '0xa', to: '0xb', amount: 30n }

test('a list is the same after a restart, and who gave all away stays on it', () => {
  const kept = openKeptSums(path())
  expect(kept.throughBlock).toBeUndefined()
  kept.add([minted], 10)
  kept.add([], 20)
  kept.add([moved, { from: '0xa', to: ZERO_ADDRESS, amount: 70n }], 30)
  const again = openKeptSums(path())
  expect([...again.sums]).toEqual([...kept.sums])
  expect([...again.sums]).toEqual([
    ['0xa', 0n],
    ['0xb', 30n],
  ])
  expect(again.throughBlock).toBe(30)
})

test.each(['0xb 3', '0xb 30\n', '0xb 30\n# 2', '0xa -30\n0xb 30\n#'])(
  'a range that was only partly written is read again: %j',
  (torn) => {
    openKeptSums(path()).add([minted], 10)
    appendFileSync(path(), torn)
    const kept = openKeptSums(path())
    expect([[...kept.sums], kept.throughBlock]).toEqual([[['0xa', 100n]], 10])
    kept.add([moved], 20)
    expect([...openKeptSums(path()).sums]).toEqual([
      ['0xa', 70n],
      ['0xb', 30n],
    ])
  },
)

test('a file without a whole range is empty', () => {
  appendFileSync(path(), '0xb 30\n')
  const kept = openKeptSums(path())
  expect([kept.sums.size, kept.throughBlock]).toEqual([0, undefined])
})
