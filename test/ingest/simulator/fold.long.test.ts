import { describe, expect, it } from 'vitest'
import { applyRecord } from '../../../services/aggregate/accept-record.js'
import type { FoldResult } from '../../../services/aggregate/fold/block-changes.js'
import { FLAG } from '../../../services/core/domain/money.js'
import type { SourceRecord } from '../../../services/ingest/source.js'
import { differencesFromReference } from '../../rig/aggregate/against-reference.js'
import { startFold } from '../../rig/aggregate/fold-lines.js'
import { Reader } from '../../rig/aggregate/reader.js'
import { isRetract, type RecordingLine } from '../../rig/reference/lines.js'
import { recompute } from '../../rig/reference/recompute.js'
import { CHAINS, chainOfRecord, DAY_S, factsOf, played, RATE, START_S } from './rig.js'

const graduations = (line: RecordingLine) =>
  isRetract(line) ? [] : line.events.filter((event) => event.type === 'launch' && event.stage === 'graduated')

const asLine = (record: SourceRecord): RecordingLine =>
  record.kind === 'block' ? { kind: 'block', ...record.block } : { kind: 'retract', ...record.retract }

function fold(records: readonly SourceRecord[], chain: string): FoldResult[] {
  const { state, history } = startFold(factsOf(chain))
  return records
    .filter((record) => chainOfRecord(record) === chain)
    .flatMap((record): FoldResult | [] => applyRecord(state, history, record) ?? [])
}

/** A pair last published yesterday: its last price is today's opening price, as readers of updates know. */
function rollDay({ pairs, last }: Reader): void {
  const today = Math.floor((last?.now ?? 0) / DAY_S)
  for (const pair of pairs.values())
    if (Math.floor(pair.updated_at / DAY_S) < today) pair.price_day_usd = pair.price_usd
}

/** This one has forks on every chain, and launches that graduate. */
const history = played({ liveS: 20, historySwaps: 30_000 })

describe.each(CHAINS.map(({ chain }) => chain))('a history of %s', (chain) => {
  it('folds to the same result as a recomputation from scratch', () => {
    const reader = new Reader()
    for (const result of fold(history, chain)) reader.read(result)
    rollDay(reader)
    const lines = history.filter((record) => chainOfRecord(record) === chain).map(asLine)
    const reference = recompute(lines, factsOf(chain))
    expect(reference.trades.length).toBeGreaterThan(1_900)
    expect(lines.some(isRetract)).toBe(true)
    if (chain === 'solana') expect(lines.flatMap(graduations).length).toBeGreaterThan(0)
    expect(reference.dead).toEqual([])
    expect(differencesFromReference(reader, reference, factsOf(chain)).slice(0, 20)).toEqual([])
  })
})

/** Minutes of chain time at the full rate: only a long run has them. */
describe('a whole history and the live blocks after it', () => {
  const liveS = START_S + 3 * DAY_S
  const records = played({ liveS: 1200, swapsPerS: RATE })
  const results = new Map(CHAINS.map(({ chain }) => [chain, fold(records, chain)]))

  it('produces no dead letters', () => {
    expect([...results.values()].flat().flatMap(({ dead }) => dead)).toEqual([])
  })

  it.each(CHAINS.map(({ chain }) => chain))('has a few dust trades and outliers on %s', (chain) => {
    const trades = (results.get(chain) ?? []).flatMap(({ update }) => update.pairs.flatMap((pair) => pair.trades))
    const flagged = (flag: number) => trades.filter(({ flags }) => (flags & flag) !== 0).length
    expect([flagged(FLAG.dust) > 10, flagged(FLAG.outlier) > 5]).toEqual([true, true])
    expect(trades.filter(({ flags }) => flags !== 0).length / trades.length).toBeLessThan(0.03)
  })

  it.each(CHAINS.map(({ chain }) => chain))('changes main pairs on %s, every few minutes when live', (chain) => {
    const switches = (results.get(chain) ?? []).flatMap(({ update }) =>
      update.main_pair_changes.flatMap(({ old_pair: old }) => (old === null ? [] : update.time)),
    )
    expect(switches.filter((time) => time < liveS).length).toBeGreaterThan(3)
    expect(switches.filter((time) => time >= liveS).length).toBeGreaterThan(2)
  })

  it('prices the native coins, and gives every quote token pool deep liquidity', () => {
    for (const [chain, all] of results) {
      const reader = new Reader()
      for (const result of all) reader.read(result)
      const { native = '', anchor = '' } = factsOf(chain)
      expect(reader.tokens.get(native)?.price_usd).toBeGreaterThan(10)
      const deep = [...reader.pairs.values()].filter(({ tvl }) => tvl > 1_000_000)
      expect(deep.length).toBeGreaterThan(8)
      const references = deep.filter(({ info }) => [info.token0, info.token1].includes(native) && info.amm !== '')
      expect(references.filter(({ info }) => [info.token0, info.token1].includes(anchor)).length).toBe(2)
    }
  })

  it('has the same hourly volume before and after going live', () => {
    const usdBetween = (from: number, to: number): number =>
      [...results.values()]
        .flat()
        .filter(({ update }) => update.time >= from && update.time < to)
        .flatMap(({ update }) => update.pairs.flatMap((pair) => pair.trades))
        .reduce((sum, { amount_usd }) => sum + (Number.isNaN(amount_usd) ? 0 : amount_usd), 0) /
      (to - from)
    const [older, recent, live] = [
      usdBetween(liveS - DAY_S, liveS - 7200),
      usdBetween(liveS - 7200, liveS),
      usdBetween(liveS, liveS + 1200),
    ]
    expect([live / recent, recent / older].every((ratio) => ratio > 0.5 && ratio < 2)).toBe(true)
  })
})
