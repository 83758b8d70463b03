import { expect, it } from 'vitest'
import { foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { Reader } from '../rig/aggregate/reader.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { isRetract, type RecordingLine } from '../rig/reference/lines.js'
import { recompute } from '../rig/reference/recompute.js'

const CHAIN = 'eth'
const FACTS = marketMoney(CHAIN)

function launchPrices(lines: readonly RecordingLine[]): Map<string, number | null> {
  const reader = new Reader()
  for (const result of foldLines(startFold(FACTS), lines)) reader.read(result)
  return new Map([...reader.tokens].map(([token, { info }]) => [token, info.launch_price]))
}

const recording = () =>
  generateRecording({ seed: 5, chain: CHAIN, blocks: 150, options: { retracts: { probability: 0.1, maxDepth: 8 } } })

it('is the first good price in the pool a token started with, also after reorgs', () => {
  const lines = recording()
  const prices = launchPrices(lines)
  const reference = recompute(lines, FACTS)
  expect([...prices.values()].filter((price) => price !== null).length).toBeGreaterThan(0)
  expect(prices).toEqual(new Map([...reference.tokens].map(([token, { launch_price }]) => [token, launch_price])))
})

it('is unknown where the first liquidity is not in the history', () => {
  const lines = recording().map((line) => {
    if (isRetract(line)) return line
    const events = line.events.map((one) => (one.type === 'liquidity' ? { ...one, kind: 'add' as const } : one))
    return { ...line, events }
  })
  expect([...launchPrices(lines).values()].filter((price) => price !== null)).toEqual([])
})
