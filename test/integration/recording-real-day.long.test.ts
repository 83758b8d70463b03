/** One day of a pool, played without any configuration, as on a first start. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countOf } from '../rig/counts.js'
import { type Day, generatedDay, recordedDay } from '../rig/evm/day.js'
import {
  candleDifferences,
  type Played,
  pairDifferences,
  playedBy,
  quotePriceDifferences,
  tokenDifferences,
} from '../rig/http/against-reference.js'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { writeRecording } from '../rig/http/recording-file.js'
import { startUp, type Up } from '../rig/http/up.js'
import { describeRecorded } from '../rig/recordings.js'

const MONEY = {
  ...{ chain: 'eth', family: 'evm' as const, title: 'Ethereum', stables: [], majors: [] },
  anchor: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  native: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
}

describe('a generated day', () => playsDay(generatedDay()))
describeRecorded('USDC/WETH on 2024-01-05', 6, () => playsDay(recordedDay()))

function playsDay(day: Day): void {
  let up: Up
  let played: Played

  beforeAll(async () => {
    const [lines, folder] = [day.lines(), scratchFolder()]
    played = playedBy(lines, MONEY)
    up = await startUp({ folder, events: writeRecording(folder, 'day.jsonl', lines) })
    await up.applied('eth', lines.length)
  })

  afterAll(async () => {
    await up.stop()
    removeScratchFolders()
  })

  test('counts all trades', async () => {
    expect((await up.metrics()).get('dextape_fold_swaps_total{chain="eth"}')).toBe(day.swaps)
    expect(played.reference.trades).toHaveLength(day.swaps)
  })

  test('matches the reference for the pair', async () => expect(await pairDifferences(up, played)).toEqual([]))

  test('returns the quote’s price in the pair', async () => expect(await quotePriceDifferences(up, played)).toEqual([]))

  test('matches the reference for both tokens', async () => expect(await tokenDifferences(up, played)).toEqual([]))

  test('matches the reference for every candle of every interval and category', async () =>
    expect(await candleDifferences(up, played, () => ['u', 'm', 'r'])).toEqual([]))

  test('agrees with the audit of each candle', async () => {
    const all = [...played.reference.candles.keys()]
    const wanted = countOf('auditedCandles')
    const sample = wanted >= all.length ? all : all.filter((_, at) => at % Math.ceil(all.length / wanted) === 0)
    for (const key of sample) {
      const [pair, interval, time] = key.split('|')
      const { body } = await up.get(`/v2/candles/audit?pair_id=${pair}-eth&interval=${interval}&time=${time}&limit=1`)
      const { agree, differences } = (body as { data: { agree: boolean; differences: unknown[] } }).data
      expect([key, agree, differences]).toEqual([key, true, []])
    }
    expect(sample.length).toBeGreaterThan(30)
  }, 600_000)
}
