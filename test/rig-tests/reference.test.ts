import { describe, expect, test } from 'vitest'
import type { RecordingBlock, RecordingRetract } from '../rig/reference/lines.js'
import { acceptedBlocks } from '../rig/reference/lines.js'
import { recompute } from '../rig/reference/recompute.js'
import { liquidity, MONDAY, MONEY, pairOf, pool, rawSwap, reserves, swap, tape, token, tokenOf } from '../rig/tape.js'

const [DUST, OUTLIER, UNPRICED] = [1, 2, 4]

describe('which blocks survive', () => {
  const block = (hash: string, parent_hash: string): RecordingBlock => ({
    ...{ chain: 't', number: hash.length, hash, parent_hash, time: MONDAY, finalized_number: 0, events: [] },
  })
  const retract = (from_hash: string, to_hash: string): RecordingRetract => ({
    ...{ kind: 'retract', chain: 't', from_number: from_hash.length, from_hash, to_number: to_hash.length, to_hash },
  })
  const [a, ab, abc, abd] = [block('a', '-'), block('ab', 'a'), block('abc', 'ab'), block('abd', 'ab')]
  const hashes = (...lines: (RecordingBlock | RecordingRetract)[]): string[] =>
    acceptedBlocks(lines).map(({ hash }) => hash)

  test('retracted blocks are removed', () =>
    expect(hashes(a, ab, abc, retract('abc', 'ab'), abd)).toEqual(['a', 'ab', 'abd']))
  test('a duplicate line is dropped', () => {
    const once = [a, ab, abc, retract('abc', 'ab'), abd]
    expect(hashes(...once.flatMap((line) => [line, line]))).toEqual(['a', 'ab', 'abd'])
    expect(hashes(...once, ...once)).toEqual(['a', 'ab', 'abd'])
  })
  test('a chain may return to orphaned blocks', () =>
    expect(hashes(a, ab, abc, retract('abc', 'ab'), abd, retract('abd', 'ab'), abc)).toEqual(['a', 'ab', 'abc']))
  test('a block or retract without its parent stops', () => {
    expect(() => hashes(a, abc)).toThrow('does not link')
    expect(() => hashes(a, ab, retract('abd', 'ab'))).toThrow('does not link')
  })
})

describe('one swap', () => {
  const opened = () => tape().block(MONDAY, pool('p', 'a', 'usd'), liquidity('p', 100_000, 200_000))

  test('a buy of the target: prices, amounts, identity', () => {
    const trade = opened()
      .block(MONDAY + 5, swap('p', 20, 'usd', 10, 'a', reserves(99_990, 200_020)))
      .read().trades[0]
    expect(trade).toMatchObject({ sell: false, price_quote: 2, price_usd: 2, amount_usd: 20, quote_usd: 1, flags: 0 })
    expect(trade).toMatchObject({ id: '3-0', tx_seq: 1, time: MONDAY + 5, target_amount: 10, quote_amount: 20 })
    expect(trade?.price_native).toBeNaN()
  })
  test('a sell, and sub in the id', () => {
    const made = opened().block(MONDAY + 5, swap('p', 10, 'a', 20, 'usd'), swap('p', 10, 'a', 20, 'usd'))
    const last = made.lines.at(-1) as RecordingBlock
    last.events = last.events.map((event, sub) => ({ ...event, tx_index: 0, log_index: 7, sub }))
    expect(made.read().trades.map(({ id, tx_seq, sell }) => ({ id, tx_seq, sell }))).toEqual([
      { id: '3-7', tx_seq: 1, sell: true },
      { id: '3-7.1', tx_seq: 2, sell: true },
    ])
  })
  test('elsewhere the id counts the swaps and liquidity events applied', () => {
    const made = opened().block(
      MONDAY + 5,
      token('x'),
      swap('ghost', 1, 'a', 1, 'b'),
      liquidity('p', 1e5, 2e5),
      swap('p', 2, 'usd', 1, 'a'),
    )
    expect(made.read({ ...MONEY, family: 'solana' }).trades[0]?.id).toBe('3-1')
  })
  test('the native leg: from the quote, from the target, and through USD', () => {
    const trades = tape()
      .block(
        MONDAY,
        pool('n', 'nat', 'usd'),
        liquidity('n', 1_000, 100_000),
        pool('q', 'a', 'nat'),
        pool('p', 'a', 'usd'),
      )
      .block(MONDAY, swap('n', 100, 'usd', 1, 'nat', reserves(999, 100_100)))
      .block(
        MONDAY,
        swap('q', 3, 'nat', 6, 'a'),
        swap('p', 50, 'usd', 1, 'a'),
        swap('n', 220, 'usd', 2, 'nat', reserves(997, 100_320)),
      )
      .read().trades
    expect(trades.map((trade) => [trade.price_native, trade.amount_native, trade.quote_native])).toEqual([
      [1, 1, Number.NaN],
      [0.5, 3, 1],
      [0.5, 0.5, 0.01],
      [1, 2, 0.01],
    ])
  })
  test('unpriced: no quote price; the native leg stays known', () => {
    const trade = tape()
      .block(MONDAY, pool('q', 'a', 'nat'), swap('q', 3, 'nat', 6, 'a'))
      .read().trades[0]
    expect(trade).toMatchObject({ flags: UNPRICED, amount_native: 3, quote_native: 1, quote_amount: 3 })
    expect([trade?.price_usd, trade?.price_native, trade?.price_quote, trade?.amount_usd, trade?.quote_usd]).toEqual(
      Array(5).fill(Number.NaN),
    )
  })
  test('unpriced: an amount of 0 is also dust', () => {
    expect(
      opened()
        .block(MONDAY, swap('p', 5, 'usd', 0, 'a'))
        .read().trades[0]?.flags,
    ).toBe(UNPRICED + DUST)
  })
  test('dust: under a cent', () => {
    expect(
      opened()
        .block(MONDAY, swap('p', 0.009, 'usd', 0.0045, 'a'))
        .read().trades[0]?.flags,
    ).toBe(DUST)
    expect(
      opened()
        .block(MONDAY, swap('p', 0.01, 'usd', 0.005, 'a'))
        .read().trades[0]?.flags,
    ).toBe(0)
  })
  test('dust: under a dollar with fewer than 1,000 raw units', () => {
    const flags = (usd: number, units: string) =>
      tape()
        .block(MONDAY, pool('p', 'b', 'usd'), rawSwap('p', ['usd', String(usd * 1e6)], ['b', units]))
        .read().trades[0]?.flags
    expect([flags(0.5, '999'), flags(0.5, '1000'), flags(1, '999')]).toEqual([DUST, 0, 0])
  })
  test('0 decimals: few raw units over a dollar make a price', () => {
    const reference = tape()
      .block(MONDAY, token('z', 0), pool('p', 'z', 'usd'), rawSwap('p', ['usd', '12000000'], ['z', '3']))
      .read()
    expect(reference.trades[0]).toMatchObject({ flags: 0, price_usd: 4, target_amount: 3 })
  })
  test('unknown decimals are never guessed, and decimals learned later do not reprice', () => {
    const reference = tape()
      .block(MONDAY, token('u', null), pool('p', 'u', 'usd'), swap('p', 8, 'usd', 2, 'u', reserves(10, 40_000)))
      .block(MONDAY + 1, token('u', 6))
      .block(MONDAY + 2, swap('p', 9, 'usd', 3, 'u', reserves(10_000, 40_000)))
      .read()
    expect(reference.trades.map(({ flags, price_usd, quote_amount }) => [flags, price_usd, quote_amount])).toEqual([
      [UNPRICED, Number.NaN, 8],
      [0, 3, 9],
    ])
    expect(pairOf(reference, 'p')).toMatchObject({ open_price_usd: 3, tx_count: 2, tvl: 70_000, liquidity_usd: 40_000 })
  })

  const far = (after: [number, number]) =>
    opened()
      .block(MONDAY, swap('p', 20, 'usd', 0.01, 'a', reserves(...after)))
      .read().trades[0]?.flags
  test('outlier: 1,000× off a mid price that does not move', () => expect(far([100_000, 200_000])).toBe(OUTLIER))
  test('not an outlier: the pool stays at that price', () => expect(far([1_000, 1_200_000])).toBe(0))
  test('not an outlier: within 5× before', () => {
    const trade = (usd: number) =>
      opened()
        .block(MONDAY, swap('p', usd, 'usd', 10, 'a', reserves(1e5, 2e5)))
        .read().trades[0]?.flags
    expect([trade(100), trade(100.001), trade(4), trade(3.999)]).toEqual([0, OUTLIER, 0, OUTLIER])
  })
  test('not an outlier: the mid price after it is unknown', () => {
    expect(
      opened()
        .block(MONDAY, swap('p', 20, 'usd', 0.01, 'a'))
        .read().trades[0]?.flags,
    ).toBe(0)
  })
  test('outlier: the mid price before is the last known one, across a swap without reserves', () => {
    const made = opened().block(
      MONDAY,
      swap('p', 20, 'usd', 10, 'a'),
      swap('p', 20, 'usd', 0.01, 'a', reserves(1e5, 2e5)),
    )
    expect(made.read().trades[1]?.flags).toBe(OUTLIER)
  })
  test('outlier: the square-root price takes precedence over reserves, in both orientations', () => {
    const sqrt_price = String(2n * 2n ** 96n)
    for (const [token0, token1, price] of [
      ['a', 'usd', 4],
      ['usd', 'a', 0.25],
    ] as const) {
      const flags = (usd: number) =>
        tape()
          .block(
            MONDAY,
            pool('v', token0, token1),
            swap('v', 100 * price, 'usd', 100, 'a', { ...reserves(9, 1), sqrt_price }),
          )
          .block(MONDAY, swap('v', usd, 'usd', 100, 'a', { ...reserves(9, 1), sqrt_price }))
          .read().trades[1]?.flags
      expect([flags(100 * price * 4.9), flags(100 * price * 5.1), flags((100 * price) / 5.1)]).toEqual([
        0,
        OUTLIER,
        OUTLIER,
      ])
    }
  })
  test('a flagged trade sets no price but counts', () => {
    const reference = opened()
      .block(MONDAY, swap('p', 20, 'usd', 10, 'a', reserves(1e5, 2e5)))
      .block(MONDAY, swap('p', 20, 'usd', 0.01, 'a', reserves(1e5, 2e5)))
      .read()
    expect(pairOf(reference, 'p')).toMatchObject({ price_usd: 2, ath_usd: 2, tx_count: 2 })
    expect(pairOf(reference, 'p').windows[5]).toMatchObject({ buys: 2, buy_volume: 40, high: 2 })
  })
  test('a swap before its pool is described is a dead letter, alone; so are liquidity and other tokens', () => {
    const reference = tape()
      .block(
        MONDAY,
        swap('p', 2, 'usd', 1, 'a'),
        liquidity('p', 5, 5),
        pool('p', 'a', 'usd'),
        swap('p', 2, 'usd', 1, 'b'),
        swap('p', 2, 'usd', 1, 'a'),
      )
      .read()
    expect(reference.trades).toHaveLength(1)
    expect(reference.dead).toEqual([
      { block: 2, position: '0:0:0', reason: 'pool_unknown' },
      { block: 2, position: '1:1:0', reason: 'pool_unknown' },
      { block: 2, position: '3:3:0', reason: 'pool_mismatch' },
    ])
  })
})

test('a second description of a pool changes nothing', () => {
  const reference = tape()
    .block(MONDAY, pool('p', 'a', 'usd'))
    .block(MONDAY + 9, pool('p', 'b', 'nat'))
    .read()
  expect(pairOf(reference, 'p')).toMatchObject({ token0: 'a', token1: 'usd', created_at: MONDAY })
})

test('pair facts: first good price, highest, initial reserves, first and last trade', () => {
  const reference = tape()
    .block(MONDAY, pool('p', 'a', 'usd'), swap('p', 1, 'usd', 0, 'a'))
    .block(MONDAY + 10, liquidity('p', 10, 20), swap('p', 30, 'usd', 10, 'a'), liquidity('p', 11, 22))
    .block(MONDAY + 20, swap('p', 50, 'usd', 10, 'a'), swap('p', 40, 'usd', 10, 'a'))
    .read()
  expect(pairOf(reference, 'p')).toMatchObject({
    ...{ open_price_usd: 3, ath_usd: 5, price_usd: 4, tx_count: 4, reserve0: null },
    ...{ init_reserve0: '10000000', init_reserve1: '20000000' },
    ...{ first_trade_at: MONDAY, first_trade_block: 2, last_trade_at: MONDAY + 20 },
  })
})

test('holders: a balance sets, a delta adds, above 0 counts', () => {
  const balance = (holder: string, facts: { delta?: string; balance?: string }) => ({
    type: 'balance' as const,
    token: 'a',
    holder,
    ...facts,
  })
  const reference = tape()
    .block(MONDAY, balance('x', { delta: '5' }), balance('y', { balance: '9' }), balance('z', { delta: '-3' }))
    .block(MONDAY, balance('x', { delta: '-5' }), balance('y', { delta: '1' }), balance('q', { balance: '1' }))
    .read()
  expect(tokenOf(reference, 'a').holders).toBe(2)
  expect(reference.holders).toEqual(new Map([['a|x', 0n], ['a|y', 10n], ['a|z', -3n], ['a|q', 1n]])) // biome-ignore format: a table
})

test('EVM addresses are case-insensitive', () => {
  const made = tape().block(MONDAY, pool('P', 'A', 'USD'), swap('p', 2, 'usd', 1, 'a'))
  expect(recompute(made.lines, { ...MONEY, anchor: 'Usd' }).trades[0]).toMatchObject({ pair: 'p', price_usd: 2 })
})
