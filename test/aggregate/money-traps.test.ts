import { describe, expect, it } from 'vitest'
import { foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { Reader } from '../rig/aggregate/reader.js'
import { liquidity, MONDAY, MONEY, pool, rawSwap, reserves, swap, type Tape, tape, token } from '../rig/tape.js'

function read({ lines }: Tape) {
  const reader = new Reader()
  const results = foldLines(startFold(MONEY), lines)
  for (const result of results) reader.read(result)
  const trades = [...reader.trades.values()]
  return {
    reader,
    trades,
    dead: results.flatMap((result) => result.dead),
    tokenPrice: (name: string) => reader.tokens.get(name)?.price_usd,
    pair: (name: string) => reader.pairs.get(name),
    candles: (name: string, interval: string) =>
      [...reader.candles].filter(([key]) => key.startsWith(`${name}|${interval}|`)).map(([, candle]) => candle),
  }
}

const DUST = 1
const OUTLIER = 2
const UNPRICED = 4

describe('the traps of the money rules', () => {
  it('a depegged stable prices its pools at what it trades at, not at 1', () => {
    const { trades, tokenPrice } = read(
      tape()
        .block(MONDAY, pool('s', 'usdt', 'usd'), swap('s', 80, 'usd', 100, 'usdt', reserves(25_000, 20_000)))
        .block(MONDAY + 1, pool('p', 'a', 'usdt'), swap('p', 10, 'usdt', 5, 'a')),
    )
    expect(tokenPrice('usdt')).toBe(0.8)
    expect(trades.at(-1)).toMatchObject({ quote_usd: 0.8, price_quote: 2, price_usd: 1.6, amount_usd: 8, flags: 0 })
  })

  it('a price loop A/B – B/A prices nothing', () => {
    const { trades, reader, tokenPrice } = read(
      tape()
        .block(MONDAY, pool('ab', 'a', 'b'), pool('ba', 'b', 'a'))
        .block(
          MONDAY + 1,
          swap('ab', 5, 'b', 10, 'a', reserves(1e6, 1e6)),
          swap('ba', 7, 'a', 3, 'b', reserves(1e6, 1e6)),
        ),
    )
    expect(trades.map(({ flags, amount_usd }) => [flags, amount_usd])).toEqual([
      [UNPRICED, Number.NaN],
      [UNPRICED, Number.NaN],
    ])
    expect([reader.tokens.get('a')?.main_pair, reader.tokens.get('b')?.main_pair]).toEqual([null, null])
    expect([tokenPrice('a'), tokenPrice('b')]).toEqual([Number.NaN, Number.NaN])
  })

  it('fake reserves in a worthless quote count for no more than the quote’s own main pair', () => {
    const { pair } = read(
      tape()
        // b is worth something in a pool of 40 USD; then a billion b are claimed as reserve against a.
        .block(MONDAY, pool('b', 'b', 'usd'), swap('b', 2, 'usd', 1, 'b', reserves(10, 20)))
        .block(MONDAY + 1, pool('fake', 'a', 'b'), swap('fake', 3, 'b', 1, 'a', reserves(1e9, 1e9))),
    )
    expect(pair('b')?.tvl).toBe(40)
    expect(pair('fake')).toMatchObject({ price_usd: 6, tvl: 80, liquidity_usd: 2e9 })
  })

  it('dust makes no price but counts', () => {
    const { trades, pair, candles } = read(
      tape()
        .block(MONDAY, pool('p', 'a', 'usd'), swap('p', 20, 'usd', 10, 'a'))
        .block(MONDAY + 60, rawSwap('p', ['usd', '900000'], ['a', '1']))
        .block(MONDAY + 61, rawSwap('p', ['a', '9000'], ['usd', '9000'])),
    )
    expect(trades.map(({ flags }) => flags)).toEqual([0, DUST, DUST])
    expect(pair('p')).toMatchObject({ price_usd: 2, tx_count: 3, ath_usd: 2 })
    expect(candles('p', 'k1').at(-1)).toMatchObject({ open_u: 2, high_u: 2, low_u: 2, close_u: 2, volume_u: 0.909 })
  })

  it('a 1000× outlier far from the pool’s mid before and after makes no price', () => {
    const { trades, pair } = read(
      tape()
        .block(
          MONDAY,
          pool('p', 'a', 'usd'),
          liquidity('p', 1000, 2000),
          swap('p', 20, 'usd', 10, 'a', reserves(1000, 2000)),
        )
        .block(MONDAY + 1, swap('p', 20_000, 'usd', 10, 'a', reserves(1000, 2000))),
    )
    expect(trades.map(({ flags, price_usd }) => [flags, price_usd])).toEqual([
      [0, 2],
      [OUTLIER, 2000],
    ])
    expect(pair('p')?.price_usd).toBe(2)
  })

  it('a real move that the pool’s mid follows is no outlier', () => {
    const { trades } = read(
      tape()
        .block(MONDAY, pool('p', 'a', 'usd'), swap('p', 20, 'usd', 10, 'a', reserves(1000, 2000)))
        .block(MONDAY + 1, swap('p', 18_000, 'usd', 900, 'a', reserves(100, 2000))),
    )
    expect(trades.at(-1)).toMatchObject({ flags: 0, price_usd: 20 })
  })

  it('a token of 0 decimals is counted in whole pieces', () => {
    const { trades } = read(
      tape().block(
        MONDAY,
        token('piece', 0),
        pool('p', 'piece', 'usd'),
        rawSwap('p', ['usd', '5000000'], ['piece', '2000']),
      ),
    )
    expect(trades[0]).toMatchObject({ price_usd: 0.0025, amount_usd: 5, flags: 0 })
  })

  it('unknown decimals are not guessed: unpriced, and never repriced once they are known', () => {
    const { trades, pair } = read(
      tape()
        .block(MONDAY, token('x', null), pool('p', 'x', 'usd'), swap('p', 10, 'usd', 5, 'x'))
        .block(MONDAY + 1, token('x', 6), swap('p', 12, 'usd', 4, 'x')),
    )
    expect(trades[0]).toMatchObject({ flags: UNPRICED, price_usd: Number.NaN, amount_usd: Number.NaN })
    expect(trades[1]).toMatchObject({ flags: 0, price_usd: 3, amount_usd: 12, tx_seq: 2 })
    expect(pair('p')).toMatchObject({ open_price_usd: 3, tx_count: 2 })
  })

  it('unknown reserves: TVL unknown, prices as ever', () => {
    const { pair, tokenPrice } = read(tape().block(MONDAY, pool('p', 'a', 'usd'), swap('p', 10, 'usd', 5, 'a')))
    expect(pair('p')).toMatchObject({ price_usd: 2, tvl: Number.NaN, reserve0: null })
    expect(tokenPrice('a')).toBe(2)
  })

  it('a pool that swaps before it is described: that swap alone is a dead letter', () => {
    const { trades, dead } = read(
      tape()
        .block(MONDAY, swap('p', 10, 'usd', 5, 'a'), pool('p', 'a', 'usd'), swap('p', 12, 'usd', 5, 'a'))
        .block(MONDAY + 1, swap('p', 14, 'usd', 5, 'a')),
    )
    expect(dead).toMatchObject([{ reason: 'pool_unknown', block: 2, position: '0:0:0' }])
    expect(trades.map(({ tx_seq, price_usd }) => [tx_seq, price_usd])).toEqual([
      [1, 2.4],
      [2, 2.8],
    ])
  })

  it('chain time that goes back changes its own bucket, and the open after it follows', () => {
    const { candles, reader } = read(
      tape()
        .block(MONDAY + 50, pool('p', 'a', 'usd'), swap('p', 10, 'usd', 5, 'a'))
        .block(MONDAY + 70, swap('p', 15, 'usd', 5, 'a'))
        .block(MONDAY + 55, swap('p', 20, 'usd', 5, 'a')),
    )
    expect(reader.last?.now).toBe(MONDAY + 70)
    expect(candles('p', 'k1')).toMatchObject([
      { time: MONDAY, open_u: 2, high_u: 4, low_u: 2, close_u: 4, volume_u: 30 },
      { time: MONDAY + 60, open_u: 4, first_u: 3, high_u: 4, low_u: 3, close_u: 3, volume_u: 15 },
    ])
  })

  it('a block more than an hour back stops the chain with its reason', () => {
    const late = tape()
      .block(MONDAY + 7200, pool('p', 'a', 'usd'))
      .block(MONDAY + 3599, swap('p', 10, 'usd', 5, 'a'))
    expect(() => read(late)).toThrow(/too far behind the chain’s time \(chain t, block 3\)/)
  })
})
