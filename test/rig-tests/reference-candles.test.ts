import { describe, expect, test } from 'vitest'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { bucketStart } from '../rig/reference/candles.js'
import { closeTo, differences } from '../rig/reference/compare.js'
import { type Reference, recompute, windowsAt } from '../rig/reference/recompute.js'
import { liquidity, MONDAY, pairOf, pool, reserves, swap, tape, tokenOf } from '../rig/tape.js'

const opened = () => tape().block(MONDAY, pool('p', 'a', 'usd'), liquidity('p', 1e6, 2e6))
const buy = (usd: number, units: number, wallet = 'w') => swap('p', usd, 'usd', units, 'a', { wallet })
/** Far from every mid price: flagged. */
const outlier = swap('p', 10, 'usd', 0.001, 'a', reserves(1e6, 2e6))

function bars(
  reference: Reference,
  interval: string,
  time: number,
  currency: 'u' | 'm' | 'r' = 'u',
): number[] | undefined {
  const candle = reference.candles.get(`p|${interval}|${time}`)
  return (
    candle &&
    (['open', 'first', 'high', 'low', 'close', 'volume'] as const).map((field) => candle[`${field}_${currency}`])
  )
}

describe('candles', () => {
  test('open is the previous close, high and low include it, first is separate', () => {
    const reference = opened()
      .block(MONDAY + 3, buy(20, 10), buy(40, 10), buy(30, 10))
      .block(MONDAY + 130, buy(50, 10), buy(35, 10))
      .read()
    expect(bars(reference, 'k1', MONDAY)).toEqual([2, 2, 4, 2, 3, 90])
    expect(bars(reference, 'k1', MONDAY + 60)).toBeUndefined()
    expect(bars(reference, 'k1', MONDAY + 120)).toEqual([3, 5, 5, 3, 3.5, 85])
    expect(bars(reference, 'k5', MONDAY)).toEqual([2, 2, 5, 2, 3.5, 175])
    expect(bars(reference, 's1', MONDAY + 130)).toEqual([3, 5, 5, 3, 3.5, 85])
    expect(reference.candles.size).toBe(2 + 2 + 8)
  })
  test('only flagged trades: flat at the previous close, first unknown, volume counted', () => {
    const reference = opened()
      .block(MONDAY, buy(20, 10))
      .block(MONDAY + 60, outlier)
      .block(MONDAY + 120, buy(30, 10))
      .read()
    expect(bars(reference, 'k1', MONDAY + 60)).toEqual([2, Number.NaN, 2, 2, 2, 10])
    expect(bars(reference, 'k1', MONDAY + 120)).toEqual([2, 3, 3, 2, 3, 30])
  })
  test('only flagged trades and no previous close: no row', () => {
    const reference = opened()
      .block(MONDAY, outlier)
      .block(MONDAY + 60, buy(30, 10))
      .read()
    expect(bars(reference, 'k1', MONDAY)).toBeUndefined()
    expect(bars(reference, 'k1', MONDAY + 60)).toEqual([3, 3, 3, 3, 3, 30])
  })
  test('native price unknown: no bars in it, then flat ones', () => {
    const reference = opened()
      .block(MONDAY, buy(20, 10), pool('n', 'nat', 'usd'))
      .block(MONDAY + 60, swap('n', 10, 'usd', 1, 'nat'), buy(30, 10))
      .read()
    expect(bars(reference, 'k1', MONDAY, 'm')).toEqual([...Array(5).fill(Number.NaN), 0])
    expect(bars(reference, 'k1', MONDAY, 'r')).toEqual([2, 2, 2, 2, 2, 20])
    expect(bars(reference, 'k1', MONDAY + 60, 'm')).toEqual([0.3, 0.3, 0.3, 0.3, 0.3, 3])
  })
  test('a timestamp that goes back changes its bucket, and the open of those after it', () => {
    const made = opened()
      .block(MONDAY, buy(20, 10))
      .block(MONDAY + 60, buy(30, 10))
      .block(MONDAY + 120, outlier)
      .block(MONDAY + 30, buy(50, 10))
    const reference = made.read()
    expect(bars(reference, 'k1', MONDAY)).toEqual([2, 2, 5, 2, 5, 70])
    expect(bars(reference, 'k1', MONDAY + 60)).toEqual([5, 3, 5, 3, 3, 30])
    expect(bars(reference, 'k1', MONDAY + 120)).toEqual([3, Number.NaN, 3, 3, 3, 10])
    expect(reference.now).toBe(MONDAY + 120)
    expect(pairOf(reference, 'p').price_usd).toBe(5)
  })
  test('a timestamp one hour back is accepted, one second more stops', () => {
    const made = opened().block(MONDAY + 4000)
    expect(made.block(MONDAY + 400, buy(20, 10)).read().trades).toHaveLength(1)
    expect(() => made.block(MONDAY + 399).read()).toThrow('more than an hour')
  })
  test('weeks start on Monday, other intervals at their UTC floor', () => {
    const sunday = MONDAY + 6 * 86_400 + 86_399
    expect(
      ['k10080', 'k1440', 'k240', 'k120', 'k1', 's1'].map((interval) => bucketStart(interval as 'k1', sunday) - MONDAY),
    ).toEqual([0, 518_400, 590_400, 597_600, 604_740, 604_799])
    expect(bucketStart('k10080', sunday + 1)).toBe(MONDAY + 604_800)
  })
})

describe('windows', () => {
  test('1m and 5m windows end at the second', () => {
    const at = (now: number) =>
      pairOf(
        opened()
          .block(MONDAY, buy(20, 10))
          .block(MONDAY + now)
          .read(),
        'p',
      ).windows.map(({ buys }) => buys)
    expect(at(59)).toEqual([1, 1, 1, 1, 1, 1])
    expect(at(60)).toEqual([0, 1, 1, 1, 1, 1])
    expect(at(299)).toEqual([0, 1, 1, 1, 1, 1])
    expect(at(300)).toEqual([0, 0, 1, 1, 1, 1])
  })
  test('15m, 1h, 4h and 24h windows end at the minute', () => {
    const at = (now: number) =>
      pairOf(
        opened()
          .block(MONDAY + 59, buy(20, 10))
          .block(MONDAY + now)
          .read(),
        'p',
      ).windows.map(({ buys }) => buys)
    expect(
      [at(899), at(900), at(3599), at(3600), at(14_399), at(14_400), at(86_399), at(86_400)].map((buys) =>
        buys.slice(2).join(''),
      ),
    ).toEqual([...['1111', '0111', '0111', '0011', '0011', '0001', '0001', '0000']])
  })
  test('volumes, counts, wallets, amounts, high and low; an empty wallet is not counted', () => {
    const sell = swap('p', 10, 'a', 15, 'usd', { wallet: 'w' })
    const reference = opened()
      .block(MONDAY, buy(20, 10), buy(50, 10, 'v'), buy(30, 10), buy(30, 10, ''), sell, outlier)
      .read()
    expect(pairOf(reference, 'p').windows[0]).toEqual({
      ...{ buy_volume: 140, sell_volume: 15, buys: 5, sells: 1, buyers: 2, sellers: 1, makers: 2 },
      ...{ amount: 50.001, high: 5, low: 1.5, price_before: Number.NaN },
    })
  })
  test('price_before: the close of the last bucket before the window, in event order within it', () => {
    const reference = opened()
      .block(MONDAY + 61, buy(20, 10), buy(30, 10))
      .block(MONDAY + 119, outlier)
      .block(MONDAY + 30, buy(40, 10))
      .block(MONDAY + 961, buy(50, 10))
      .read()
    expect(pairOf(reference, 'p').windows.map(({ price_before }) => price_before)).toEqual([
      3,
      3,
      3,
      ...Array(3).fill(Number.NaN),
    ])
  })
  test('a token’s windows cover all its pairs, with the main pair’s price before', () => {
    const other = (usd: number, wallet: string) => swap('q', usd, 'usdt', 1, 'a', { wallet })
    const reference = opened()
      .block(MONDAY, pool('q', 'a', 'usdt'), buy(20, 10), other(3, 'w'))
      .block(MONDAY + 60, buy(30, 10, 'x'), other(9, 'x'), other(1, 'y'))
      .read()
    expect(tokenOf(reference, 'a').windows[0]).toEqual({
      ...{ buy_volume: 40, sell_volume: 0, buys: 3, sells: 0, buyers: 2, sellers: 0, makers: 2 },
      ...{ amount: 12, high: 9, low: 1, price_before: 2 },
    })
  })
  test('windows after any block equal those of a recording that ends there', () => {
    const lines = generateRecording({ seed: 5, chain: 'eth', blocks: 60 })
    const whole = recompute(lines, marketMoney('eth'))
    for (const upTo of [20, 41, 60]) {
      const part = recompute(lines.slice(0, upTo), marketMoney('eth'))
      const then = windowsAt(whole, part.head?.number ?? 0)
      expect(then.now).toBe(part.now)
      expect(differences(then.pairs, new Map([...part.pairs].map(([name, pair]) => [name, pair.windows])))).toEqual([])
      for (const [name, windows] of then.tokens) expect(differences(windows, tokenOf(part, name).windows)).toEqual([])
    }
  })
})

test('daily price: the last before midnight, else the first after', () => {
  const first = opened()
    .block(MONDAY + 100, buy(20, 10))
    .block(MONDAY + 200, buy(30, 10))
  expect(pairOf(first.read(), 'p').price_day_usd).toBe(2)
  expect(pairOf(first.block(MONDAY + 86_399).read(), 'p').price_day_usd).toBe(2)
  expect(pairOf(first.block(MONDAY + 86_400, buy(50, 10)).read(), 'p').price_day_usd).toBe(3)
  // A block whose timestamp goes back over midnight still sets yesterday's close.
  expect(pairOf(first.block(MONDAY + 86_398, buy(44, 10)).read(), 'p').price_day_usd).toBe(4.4)
})

test('closeTo: equal, both unknown, or within 1e-9', () => {
  expect([closeTo(1, 1 + 5e-10), closeTo(Number.NaN, Number.NaN), closeTo(0, 0), closeTo(-0, 0)]).toEqual([
    true,
    true,
    true,
    true,
  ])
  expect([closeTo(1, 1 + 2e-9), closeTo(Number.NaN, 0), closeTo(0, 1e-30), closeTo(1, -1)]).toEqual([
    false,
    false,
    false,
    false,
  ])
})
