import { describe, expect, it } from 'vitest'
import { differencesFromReference } from '../rig/aggregate/against-reference.js'
import { exactDifferences } from '../rig/aggregate/exact.js'
import { foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { Reader } from '../rig/aggregate/reader.js'
import { deliverTwice, generateRecording, withoutOrphans } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import type { RecordingLine } from '../rig/reference/lines.js'
import { recompute } from '../rig/reference/recompute.js'

const SEEDS = [11, 12, 13, 14, 15, 16]

function readerOf(lines: readonly RecordingLine[], chain: string): Reader {
  const reader = new Reader()
  for (const result of foldLines(startFold(marketMoney(chain)), lines)) reader.read(result)
  return reader
}

/** All a reader has, without what names the log's own order (seq). */
function contents({ trades, candles, pairs, tokens, holders }: Reader) {
  return { trades, candles, pairs, tokens, holders }
}

describe('a retract leaves no trace', () => {
  for (const seed of SEEDS) {
    const chain = seed % 2 === 0 ? 'eth' : 'solana'
    const retracts = { probability: 0.12, maxDepth: 20 }
    const plan = { seed, chain, blocks: 220, options: { retracts } }

    it(`seed ${seed}: bit for bit a run without the orphaned blocks`, () => {
      const lines = generateRecording(plan)
      expect(lines.some((line) => line.kind === 'retract')).toBe(true)
      expect(
        exactDifferences(contents(readerOf(lines, chain)), contents(readerOf(withoutOrphans(lines), chain))),
      ).toEqual([])
    })

    it(`seed ${seed}: equal to the recomputation`, () => {
      const lines = generateRecording(plan)
      const facts = marketMoney(chain)
      expect(differencesFromReference(readerOf(lines, chain), recompute(lines, facts), facts).slice(0, 10)).toEqual([])
    })
  }

  it('after each retract the state is as it was: what follows folds the same', () => {
    const lines = generateRecording({
      seed: 21,
      chain: 'eth',
      blocks: 120,
      options: { retracts: { probability: 0.3, maxDepth: 20 } },
    })
    for (let cut = 0; cut < lines.length; cut += 1) {
      if (lines[cut]?.kind !== 'retract') continue
      const head = lines.slice(0, cut + 1)
      expect(
        exactDifferences(contents(readerOf(head, 'eth')), contents(readerOf(withoutOrphans(head), 'eth'))),
      ).toEqual([])
    }
  })
})

describe('delivery', () => {
  it('every line twice and the whole once more: the same updates under the same seq', () => {
    const lines = generateRecording({
      seed: 31,
      chain: 'eth',
      blocks: 150,
      options: { retracts: { probability: 0.1, maxDepth: 8 } },
    })
    const once = foldLines(startFold(marketMoney('eth')), lines).map((result) => result.update)
    const twice = foldLines(startFold(marketMoney('eth')), deliverTwice(lines)).map((result) => result.update)
    expect(exactDifferences(twice, once)).toEqual([])
  })
})
