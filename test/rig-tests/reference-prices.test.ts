import { describe, expect, test } from 'vitest'
import type { EventFacts } from '../rig/market/writer.js'
import type { Reference } from '../rig/reference/recompute.js'
import { liquidity, MONDAY, pairOf, pool, reserves, swap, tape, tokenOf } from '../rig/tape.js'

const priceOf = (reference: Reference, token: string): number => tokenOf(reference, token).price_usd

/** A pool of nat against usd, `usd` deep on the quote side, after one trade at `price`. */
const nativePool = (name: string, price: number, usd: number): EventFacts[] => [
  pool(name, 'nat', 'usd'),
  swap(name, price, 'usd', 1, 'nat', reserves(usd / price, usd)),
]

describe('stables', () => {
  const depegged = (depth: number) =>
    tape()
      .block(
        MONDAY,
        pool('s', 'usdt', 'usd'),
        swap('s', 80, 'usd', 100, 'usdt', reserves(depth / 0.8, depth)),
        pool('p', 'a', 'usdt'),
      )
      .block(MONDAY + 1, swap('p', 10, 'usdt', 5, 'a'))
      .read()
  test('a depegged stablecoin is worth its traded price', () => {
    expect(depegged(20_000).trades[1]).toMatchObject({ quote_usd: 0.8, price_usd: 1.6, amount_usd: 8 })
  })
  test('a pool under 10,000 does not depeg it', () =>
    expect(depegged(4_999).trades[1]).toMatchObject({ quote_usd: 1, price_usd: 2 }))
  test('TVL counts from the end of its block: the same block still sees 1', () => {
    const reference = tape()
      .block(
        MONDAY,
        pool('s', 'usdt', 'usd'),
        swap('s', 80, 'usd', 100, 'usdt', reserves(25_000, 20_000)),
        pool('p', 'a', 'usdt'),
        swap('p', 10, 'usdt', 5, 'a'),
      )
      .read()
    expect(reference.trades[1]?.quote_usd).toBe(1)
    expect(priceOf(reference, 'usdt')).toBe(0.8)
  })
})

describe('native', () => {
  test('unknown before any good trade, then priced by any pool, however shallow', () => {
    expect(
      priceOf(
        tape()
          .block(MONDAY, pool('n', 'nat', 'usd'))
          .read(),
        'nat',
      ),
    ).toBeNaN()
    expect(
      priceOf(
        tape()
          .block(MONDAY, ...nativePool('n', 90, 5))
          .read(),
        'nat',
      ),
    ).toBe(90)
  })
  test('one or two deep pools: the deepest', () => {
    const reference = tape()
      .block(MONDAY, ...nativePool('n', 90, 50_000), ...nativePool('m', 110, 60_000), ...nativePool('o', 300, 9))
      .read()
    expect(priceOf(reference, 'nat')).toBe(110)
  })
  test('three: the median; four: the mean of the middle two', () => {
    const three = [...nativePool('n', 90, 50_000), ...nativePool('m', 110, 60_000), ...nativePool('o', 100, 10_000)]
    expect(
      priceOf(
        tape()
          .block(MONDAY, ...three)
          .read(),
        'nat',
      ),
    ).toBe(100)
    expect(
      priceOf(
        tape()
          .block(MONDAY, ...three, ...nativePool('q', 104, 10_000))
          .read(),
        'nat',
      ),
    ).toBe(102)
  })
  test('a pool without a trade for an hour does not count; with none remaining the last value stays', () => {
    const opened = () => tape().block(MONDAY, ...nativePool('n', 90, 50_000), ...nativePool('m', 110, 60_000))
    expect(
      priceOf(
        opened()
          .block(MONDAY + 3599, swap('n', 95, 'usd', 1, 'nat', reserves(500, 50_000)))
          .read(),
        'nat',
      ),
    ).toBe(110)
    expect(
      priceOf(
        opened()
          .block(MONDAY + 3600, swap('n', 95, 'usd', 1, 'nat', reserves(500, 50_000)))
          .read(),
        'nat',
      ),
    ).toBe(95)
    expect(
      priceOf(
        opened()
          .block(MONDAY + 90_000)
          .read(),
        'nat',
      ),
    ).toBe(110)
  })
  test('a flagged trade keeps a pool active but sets no price', () => {
    const reference = tape()
      .block(MONDAY, ...nativePool('n', 90, 50_000), ...nativePool('m', 110, 60_000))
      .block(MONDAY + 3600, swap('n', 91_000, 'usd', 1, 'nat', reserves(555, 50_000)))
      .read()
    expect(reference.trades[2]?.flags).toBe(2)
    expect(priceOf(reference, 'nat')).toBe(90)
  })
  test('is recomputed inside a block, right after the trade', () => {
    const reference = tape()
      .block(MONDAY, ...nativePool('n', 90, 50_000), pool('p', 'a', 'nat'))
      .block(
        MONDAY,
        swap('p', 1, 'nat', 1, 'a'),
        swap('n', 99, 'usd', 1, 'nat', reserves(550, 50_000)),
        swap('p', 1, 'nat', 1, 'a'),
      )
      .read()
    expect(reference.trades.filter(({ pair }) => pair === 'p').map(({ quote_usd }) => quote_usd)).toEqual([90, 99])
  })
})

describe('TVL', () => {
  const deep = (after: EventFacts[]) =>
    pairOf(
      tape()
        .block(MONDAY, pool('p', 'a', 'usd'), ...after)
        .read(),
      'p',
    )
  test('twice the quote side before a good trade, then limited by the smaller target side', () => {
    expect(deep([liquidity('p', 100, 300)])).toMatchObject({ tvl: 600, liquidity_usd: 300 })
    expect(deep([swap('p', 2, 'usd', 1, 'a', reserves(100, 300))])).toMatchObject({ tvl: 500, liquidity_usd: 300 })
    expect(deep([swap('p', 9, 'usd', 1, 'a', reserves(100, 300))])).toMatchObject({ tvl: 600, liquidity_usd: 300 })
  })
  test('unknown reserves give an unknown TVL', () => {
    expect(deep([liquidity('p', 100, 300), swap('p', 2, 'usd', 1, 'a')]).tvl).toBeNaN()
    expect(deep([swap('p', 2, 'usd', 1, 'a', { reserve1: '5000000' })])).toMatchObject({
      tvl: Number.NaN,
      liquidity_usd: 5,
    })
  })
  test('fake reserves in a worthless quote are worth at most that quote’s main pair', () => {
    const reference = tape()
      .block(MONDAY, pool('t', 'b', 'usd'), swap('t', 2, 'usd', 2, 'b', reserves(30, 30)))
      .block(MONDAY, pool('f', 'a', 'b'), swap('f', 7, 'b', 1, 'a', reserves(1e9, 9e9)))
      .read()
    expect(pairOf(reference, 'f')).toMatchObject({ target_token: 'a', price_usd: 7, liquidity_usd: 9e9, tvl: 120 })
    expect(tokenOf(reference, 'a')).toMatchObject({ tvl: 120, main_pair: 'f' })
  })
  test('a quote whose main pair has an unknown value', () => {
    const reference = tape()
      .block(MONDAY, pool('t', 'b', 'usd'), swap('t', 2, 'usd', 2, 'b'))
      .block(MONDAY, pool('f', 'a', 'b'), swap('f', 7, 'b', 1, 'a', reserves(10, 70)))
      .read()
    expect(pairOf(reference, 'f')).toMatchObject({ liquidity_usd: 70, tvl: Number.NaN })
    expect(tokenOf(reference, 'a').tvl).toBeNaN()
  })
  test('at the end of a block, pools closer to quote tokens come first, whatever the order of events', () => {
    const reference = tape()
      .block(MONDAY, pool('t', 'b', 'usd'), swap('t', 2, 'usd', 2, 'b', reserves(30, 30)))
      .block(MONDAY, pool('f', 'a', 'b'))
      .block(MONDAY, swap('f', 7, 'b', 1, 'a', reserves(100, 700)), liquidity('t', 900, 900))
      .read()
    expect(pairOf(reference, 'f').tvl).toBe(1400)
  })
})

describe('quote and target', () => {
  const sides = (reference: Reference, name: string) => [
    pairOf(reference, name).target_token,
    pairOf(reference, name).quote_token,
  ]
  test('by rank, on either side', () => {
    const reference = tape()
      .block(MONDAY, pool('1', 'usd', 'usdt'), pool('2', 'nat', 'usdt'), pool('3', 'nat', 'maj'), pool('4', 'maj', 'a'))
      .read()
    expect(['1', '2', '3', '4'].map((name) => sides(reference, name))).toEqual([['usdt', 'usd'], ['nat', 'usdt'], ['maj', 'nat'], ['a', 'maj']]) // biome-ignore format: a table
  })
  test('equal ranks: the one with a main pair, else token1', () => {
    const reference = tape()
      .block(MONDAY, pool('1', 'a', 'b'), pool('2', 'c', 'usd'))
      .block(MONDAY, pool('3', 'c', 'd'), pool('4', 'd', 'c'))
      .read()
    expect(['1', '3', '4'].map((name) => sides(reference, name))).toEqual([['a', 'b'], ['d', 'c'], ['d', 'c']]) // biome-ignore format: a table
  })
})

describe('main pair', () => {
  test('a loop of two unranked tokens prices nothing', () => {
    const reference = tape()
      .block(MONDAY, pool('1', 'a', 'b'), pool('2', 'b', 'a'), swap('1', 2, 'b', 1, 'a'), swap('2', 2, 'a', 1, 'b'))
      .read()
    expect([priceOf(reference, 'a'), priceOf(reference, 'b'), tokenOf(reference, 'a').main_pair]).toEqual([
      Number.NaN,
      Number.NaN,
      null,
    ])
    expect(reference.trades.map(({ flags }) => flags)).toEqual([4, 4])
  })
  test('reached within 3 hops, not within 4', () => {
    const made = tape()
    for (const [name, target, quote] of [
      ['1', 'a', 'usd'],
      ['2', 'b', 'a'],
      ['3', 'c', 'b'],
      ['4', 'd', 'c'],
      ['5', 'e', 'd'],
    ] as const) {
      made.block(MONDAY, pool(name, target, quote), swap(name, 6, quote, 3, target))
    }
    const reference = made.read()
    expect(['a', 'b', 'c', 'd', 'e'].map((name) => tokenOf(reference, name).main_pair)).toEqual([
      '1',
      '2',
      '3',
      '4',
      null,
    ])
    // The quote has no main pair yet in its first block's events: each first trade is priced from its block's main pairs before.
    expect(reference.trades.map(({ price_usd }) => price_usd)).toEqual([2, 4, 8, 16, 32])
    expect(priceOf(reference, 'e')).toBeNaN()
  })

  test('re-ranked in rounds: a chain described from its far end is complete at the end of one block', () => {
    const reference = tape()
      .block(MONDAY, pool('4', 'd', 'c'), pool('3', 'c', 'b'), pool('2', 'b', 'a'), pool('1', 'a', 'usd'))
      .read()
    expect(reference.mainPairChanges.map(({ token, new_pair }) => token + new_pair)).toEqual(['a1', 'b2', 'c3', 'd4'])
  })

  const rivals = (second: number) =>
    tape()
      .block(
        MONDAY,
        pool('1', 'a', 'usd'),
        pool('2', 'a', 'usdt'),
        liquidity('1', 100, 6_000),
        liquidity('2', 100, 6_000),
      )
      .block(MONDAY + 1, liquidity('2', 100, second))
      .read()
  test('changes only beyond 1.1 times', () => {
    expect(rivals(6_600).mainPairChanges).toEqual([{ block: 2, token: 'a', old_pair: null, new_pair: '1' }])
    expect(rivals(6_601).mainPairChanges.at(-1)).toEqual({ block: 3, token: 'a', old_pair: '1', new_pair: '2' })
  })
  test('ranked by volume under 10,000; the upper class wins at once', () => {
    const opened = () =>
      tape().block(
        MONDAY,
        pool('1', 'a', 'usd'),
        pool('2', 'a', 'usdt'),
        swap('1', 100, 'usd', 50, 'a', reserves(9, 4_000)),
      )
    expect(
      tokenOf(
        opened()
          .block(MONDAY, swap('2', 110, 'usdt', 55, 'a'))
          .read(),
        'a',
      ).main_pair,
    ).toBe('1')
    expect(
      tokenOf(
        opened()
          .block(MONDAY, swap('2', 111, 'usdt', 55, 'a'))
          .read(),
        'a',
      ).main_pair,
    ).toBe('2')
    expect(
      tokenOf(
        opened()
          .block(MONDAY, liquidity('2', 50, 5_000))
          .read(),
        'a',
      ).main_pair,
    ).toBe('2')
  })
  test('ranking volume covers the last 24 hours', () => {
    const reference = tape()
      .block(MONDAY, pool('1', 'a', 'usd'), pool('2', 'a', 'usdt'), swap('1', 100, 'usd', 50, 'a'))
      .block(MONDAY + 86_400, swap('2', 5, 'usdt', 2, 'a'))
      .read()
    expect(tokenOf(reference, 'a').main_pair).toBe('2')
  })
  test('a new main pair without a good trade keeps the price; with one it sets its own', () => {
    const opened = (events: EventFacts[]) =>
      tape()
        .block(
          MONDAY,
          pool('1', 'a', 'usd'),
          swap('1', 100, 'usd', 50, 'a', reserves(9, 4_000)),
          pool('2', 'a', 'usdt'),
          ...events,
        )
        .block(MONDAY, liquidity('2', 5_000, 9_000))
        .read()
    expect(priceOf(opened([]), 'a')).toBe(2)
    expect(priceOf(opened([swap('2', 9, 'usdt', 3, 'a')]), 'a')).toBe(3)
  })
})
