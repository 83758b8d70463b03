import { expect, it } from 'vitest'
import { foldFingerprint } from '../../services/aggregate/epoch.js'
import { MONEY } from '../rig/tape.js'

it('the first generation has the epoch it had before there were others; each other one its own', () => {
  const first = foldFingerprint(MONEY, 3600)
  expect(first).toBe('b0419742ec002607')
  expect(foldFingerprint(MONEY, 3600, 1)).toBe(first)
  expect(new Set([1, 2, 3].map((generation) => foldFingerprint(MONEY, 3600, generation))).size).toBe(3)
})
