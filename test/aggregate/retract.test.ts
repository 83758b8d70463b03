import { describe, expect, it } from 'vitest'
import { differencesFromReference } from '../rig/aggregate/against-reference.js'
import { exactDifferences } from '../rig/aggregate/exact.js'
import { foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { Reader } from '../rig/aggregate/reader.js'
import { seedsOf } from '../rig/counts.js'
import { deliverTwice, generateRecording, withoutOrphans } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import type { RecordingLine } from '../rig/reference/lines.js'
import { recompute } from '../rig/reference/recompute.js'

function readerOf(lines: readonly RecordingLine[], chain: string): Reader {
  const reader = new Reader()
  for (const result of foldLines(startFold(marketMoney(chain)), lines)) reader.read(result)
  return reader
}

/** All a reader has, without what names the log's own order (seq). */
function contents({ trades, candles, pairs, tokens, holders, pairHours, holderHours }: Reader) {
  return { trades, candles, pairs, tokens, holders, pairHours, holderHours }
}

describe('a retract leaves no trace', () => {
  it.each(seedsOf('foldRetractSeeds'))('seed %i: bit for bit a run without the orphaned blocks', (seed) => {
    const chain = seed % 2 === 0 ? 'eth' : 'solana'
    const facts = marketMoney(chain)
    const retracts = { probability: 0.12, maxDepth: 20 }
    const lines = generateRecording({ seed, chain, blocks: 220, options: { retracts } })
    expect(lines.some((line) => line.kind === 'retract')).toBe(true)
    const reader = readerOf(lines, chain)
    expect(exactDifferences(contents(reader), contents(readerOf(withoutOrphans(lines), chain)))).toEqual([])
    expect(differencesFromReference(reader, recompute(lines, facts), facts).slice(0, 10)).toEqual([])
  })

  it('after each retract the state is as it was: what follows folds the same', () => {
    const lines = generateRecording({
      seed: 21,
      chain: 'eth',
      blocks: 120,
      options: { retracts: { probability: 0.3, maxDepth: 20 } },
    })
    const folding = startFold(marketMoney('eth'))
    const reader = new Reader()
    for (const [at, line] of lines.entries()) {
      for (const result of foldLines(folding, [line])) reader.read(result)
      if (line.kind !== 'retract') continue
      const survivors = withoutOrphans(lines.slice(0, at + 1))
      expect(exactDifferences(contents(reader), contents(readerOf(survivors, 'eth')))).toEqual([])
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
