/** One day of a pool: the result must add up to independently computed sums. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { ChainFacts } from '../../services/core/domain/chains.js'
import { type Day, generatedDay, type Minute, recordedDay } from '../rig/evm/day.js'
import { describeRecorded } from '../rig/recordings.js'
import { differences } from '../rig/reference/compare.js'
import type { RecordingLine } from '../rig/reference/lines.js'
import { acceptedBlocks } from '../rig/reference/lines.js'
import { type Reference, recompute } from '../rig/reference/recompute.js'

const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
const PAIR = '0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640'
const money: ChainFacts = {
  chain: 'eth',
  family: 'evm',
  title: 'Ethereum',
  anchor: USDC,
  stables: [],
  native: WETH,
  majors: [],
}

describe('a generated day', () => addsUp(generatedDay()))
describeRecorded('USDC/WETH on 2024-01-05', 4, () => addsUp(recordedDay()))

function addsUp(day: Day): void {
  let lines: RecordingLine[]
  let reference: Reference
  let elapsedMs: number
  beforeAll(() => {
    lines = day.lines()
    const start = performance.now()
    reference = recompute(lines, money)
    elapsedMs = performance.now() - start
  })

  test('has all swaps and liquidity events, in order', () => {
    expect(acceptedBlocks(lines)).toHaveLength(lines.length)
    expect(reference.trades).toHaveLength(day.swaps)
    expect(reference.liquidity).toHaveLength(day.liquidity)
    expect(reference.dead).toEqual([])
    expect(reference.trades.at(-1)?.tx_seq).toBe(day.swaps)
  })

  test('in and net amounts of every minute equal the independent sums', () => {
    const minutes = new Map<number, Minute>()
    for (const trade of reference.trades) {
      const time = Math.floor(trade.time / 60) * 60
      const minute = minutes.get(time) ?? { in0: 0n, in1: 0n, net0: 0n, net1: 0n }
      const [amountIn, amountOut] = [BigInt(trade.amount_in), BigInt(trade.amount_out)]
      // WETH is the target: a sell puts token1 in.
      if (trade.sell)
        minutes.set(time, {
          ...minute,
          in1: minute.in1 + amountIn,
          net0: minute.net0 - amountOut,
          net1: minute.net1 + amountIn,
        })
      else
        minutes.set(time, {
          ...minute,
          in0: minute.in0 + amountIn,
          net0: minute.net0 + amountIn,
          net1: minute.net1 - amountOut,
        })
    }
    expect(differences(minutes, day.minutes())).toEqual([])
    expect(minutes.size).toBeGreaterThan(500)
  })

  test('the day’s candle equals the day', () => {
    const candle = reference.candles.get(`${PAIR}|k1440|${Date.UTC(2024, 0, 5) / 1000}`)
    const prices = reference.trades.filter(({ flags }) => flags === 0).map(({ price_usd }) => price_usd)
    expect(candle).toMatchObject({
      open_u: prices[0],
      close_u: prices.at(-1),
      high_u: Math.max(...prices),
      low_u: Math.min(...prices),
    })
    expect(candle?.low_u).toBeGreaterThan(day.prices[0])
    expect(candle?.high_u).toBeLessThan(day.prices[1])
    expect(reference.pairs.get(PAIR)).toMatchObject({ target_token: WETH, tvl: Number.NaN, tx_count: day.swaps })
  })

  test('a day takes less than ten seconds', () => expect(elapsedMs).toBeLessThan(10_000))
}
