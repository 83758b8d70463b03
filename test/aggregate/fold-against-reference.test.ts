import { describe, expect, it } from 'vitest'
import { differencesFromReference } from '../rig/aggregate/against-reference.js'
import { foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { Reader } from '../rig/aggregate/reader.js'
import { seedsOf } from '../rig/counts.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { recompute } from '../rig/reference/recompute.js'

describe('the fold equals the recomputation from scratch', () => {
  for (const chain of ['eth', 'solana']) {
    for (const seed of seedsOf('foldMarketSeeds')) {
      it(`${chain}, seed ${seed}`, () => {
        const facts = marketMoney(chain)
        const lines = generateRecording({ seed, chain, blocks: 250 })
        const reader = new Reader()
        for (const result of foldLines(startFold(facts), lines)) reader.read(result)
        expect(differencesFromReference(reader, recompute(lines, facts), facts).slice(0, 20)).toEqual([])
      })
    }
  }
})
