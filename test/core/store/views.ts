/** Views for analysts: readable values without versions and encodings, backed by primary-key lookups. */
import { beforeAll, describe, expect, it } from 'vitest'
import { packWindows } from '../../../services/core/domain/packed-windows.js'
import type { Store } from '../../../services/core/store/port.js'
import { binaryLine, line, lines } from './rows.js'

const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
const window = (volume: number, price_before: number | null) => ({
  ...{ buy_volume: volume, sell_volume: 1, buys: 2, sells: 1, buyers: 2, sellers: 1, makers: 3, amount: 4 },
  ...{ high: 12, low: null, price_before },
})
const windows = [3, 4, 5, 6].map((n) => window(n * 10, n === 6 ? 8 : null))
const packed = packWindows(
  windows.map((one) => ({ ...one, low: Number.NaN, price_before: one.price_before ?? Number.NaN })),
)

export function viewContract(opened: () => Store): void {
  describe('views', () => {
    const select = (sql: string) => opened().query(sql)
    beforeAll(async () => {
      const store = opened()
      const pair = { chain: 'view', pair: '0xp', token0: 'foo', token1: WETH, decimals0: 6, decimals1: 18 }
      const reserves = { reserve0: '5000000', reserve1: null }
      const known = { updated_at: 1_760_000_100, windows: packed }
      const pairFigures = { price_usd: 10, open_price_usd: 5 }
      await store.insertRows('pair_rows', binaryLine('pair_rows', { ...pair, ...reserves, ...pairFigures, ...known }))
      const token = { chain: 'view', token: 'foo', decimals: 6, symbol: 'FOO', total_supply: '7000000' }
      const tokenFigures = { price_usd: 10, main_price_usd: 10, main_open_usd: 5 }
      await store.insertRows('token_rows', binaryLine('token_rows', { ...token, ...tokenFigures, ...known }))
      await store.insert('token_rows', line('token_rows', { chain: 'view', token: 'dim' }))
      const text = { windows, open_price_usd: 5, ath_usd: null, updated_at: 1_760_000_100, ...tokenFigures }
      await store.command(
        `INSERT INTO pair_rows (chain, pair, token0, token1, decimals0, decimals1, reserve0, price_usd, state)
         SELECT 'old view', '0xp', 'foo', '${WETH}', 6, 18, '5000000', 10, {text:String}`,
        { text: JSON.stringify(text) },
      )
      await store.command(
        `INSERT INTO token_rows (chain, token, decimals, symbol, total_supply, price_usd, state)
         SELECT 'old view', 'foo', 6, 'FOO', '7000000', 10, {text:String}`,
        { text: JSON.stringify(text) },
      )
      await store.insert(
        'holder_rows',
        lines('holder_rows', [
          { chain: 'view', token: 'foo', balance: '-2500000' },
          { chain: 'view', token: 'dim', balance: '3' },
        ]),
      )
      const trade = { chain: 'view', pair: '0xp', amount_in: '1500000', amount_out: '2000000000000000000' }
      await store.insert(
        'trade_rows',
        lines('trade_rows', [
          { ...trade, log_index: 1, sell: 1, price_usd: 10, amount_usd: 15, ...reserves },
          { ...trade, log_index: 2, sell: 0, flags: 5, amount_in: '2000000000000000000', amount_out: '1500000' },
          { ...trade, log_index: 3, is_deleted: 1 },
          { ...trade, pair: 'undescribed', log_index: 4 },
        ]),
      )
      await store.insert(
        'liquidity_rows',
        line('liquidity_rows', { ...pair, kind: 'remove', amount0: '1', amount1: '5' }),
      )
      await store.insert('candle_rows', line('candle_rows', { chain: 'view', pair: '0xp', open_u: 1, close_r: 2 }))
    })

    it('trades: sides, tokens, scaled and raw amounts, flags by name, no tombstones', async () => {
      const columns = 'time, side, token_in, token_out, amount_in, amount_out, amount_in_raw, reserve0, reserve1_raw'
      const found = await select(
        `SELECT ${columns}, price_usd, amount_usd, flags, good FROM trades WHERE chain = 'view' ORDER BY log_index`,
      )
      const time = '2025-10-09 08:53:20'
      expect(found).toEqual([
        {
          ...{ time, side: 'sell', token_in: 'foo', token_out: WETH, amount_in: 1.5, amount_out: 2 },
          ...{
            amount_in_raw: '1500000',
            reserve0: 5,
            reserve1_raw: null,
            price_usd: 10,
            amount_usd: 15,
            flags: [],
            good: 1,
          },
        },
        {
          ...{ time, side: 'buy', token_in: WETH, token_out: 'foo', amount_in: 2, amount_out: 1.5 },
          ...{ amount_in_raw: '2000000000000000000', reserve0: null, reserve1_raw: null, price_usd: null },
          ...{ amount_usd: null, flags: ['dust', 'unpriced'], good: 0 },
        },
        {
          ...{ time, side: 'buy', token_in: null, token_out: null, amount_in: null, amount_out: null },
          ...{ amount_in_raw: '1500000', reserve0: null, reserve1_raw: null, price_usd: null, amount_usd: null },
          ...{ flags: [], good: 1 },
        },
      ])
    })

    it('candles and liquidity: NULL for unknown', async () => {
      expect(
        await select("SELECT interval, open_usd, close_usd, close_quote FROM candles WHERE chain = 'view'"),
      ).toEqual([{ interval: 'k1', open_usd: 1, close_usd: null, close_quote: 2 }])
      expect(
        await select("SELECT kind, token0, amount0, amount1_raw, amount_usd FROM liquidity WHERE chain = 'view'"),
      ).toEqual([{ kind: 'remove', token0: 'foo', amount0: 0.000001, amount1_raw: '5', amount_usd: null }])
    })

    it.each([
      ['pairs and tokens', 'view'],
      ['pairs and tokens that an earlier version stored', 'old view'],
    ])('%s: window statistics, changes in percent', async (_, chain) => {
      const shared = { volume_15m: 31, volume_24h: 61, buys_1h: '2', makers_24h: '3', high_24h: 12, low_24h: null }
      const statistics =
        'volume_15m, volume_24h, buys_1h, makers_24h, high_24h, low_24h, price_change_15m, price_change_24h'
      expect(
        await select(
          `SELECT target, quote, reserve0, ath_usd, updated_at, ${statistics} FROM pairs WHERE chain = '${chain}'`,
        ),
      ).toEqual([
        {
          ...{ target: 'foo', quote: WETH, reserve0: 5, ath_usd: null, updated_at: '2025-10-09 08:55:00' },
          ...shared,
          ...{ price_change_15m: 100, price_change_24h: 25 },
        },
      ])
      expect(
        await select(
          `SELECT symbol, decimals, total_supply, ${statistics} FROM tokens WHERE token = 'foo' AND chain = '${chain}'`,
        ),
      ).toEqual([
        { symbol: 'FOO', decimals: 6, total_supply: 7, ...shared, price_change_15m: 100, price_change_24h: 25 },
      ])
    })

    it('holders: balances scaled if the decimals are known', async () => {
      expect(
        await select("SELECT token, holder, balance, balance_raw FROM holders WHERE chain = 'view' ORDER BY token"),
      ).toEqual([
        { token: 'dim', holder: 'alice', balance: null, balance_raw: '3' },
        { token: 'foo', holder: 'alice', balance: -2.5, balance_raw: '-2500000' },
      ])
    })

    const lookups = {
      trades: [
        'trade_rows',
        "pair = '0xp' AND chain = 'view' AND time > toDateTime(5, 'UTC')",
        ['chain', 'pair', 'time'],
      ],
      candles: [
        'candle_rows',
        "chain = 'view' AND pair = '0xp' AND interval = 'k1' AND time < now()",
        ['chain', 'pair', 'interval', 'time'],
      ],
      liquidity: ['liquidity_rows', "pair = '0xp' AND chain = 'view'", ['chain', 'pair']],
      pairs: ['pair_rows', "pair = '0xp' AND chain = 'view'", ['chain', 'pair']],
      tokens: ['token_rows', "token = 'foo' AND chain = 'view'", ['chain', 'token']],
      holders: ['holder_rows', "token = 'foo' AND chain = 'view' AND holder = 'alice'", ['chain', 'token', 'holder']],
    } as const

    it.each(Object.entries(lookups))(
      '%s: a filter on the key is a primary-key lookup in every table behind it',
      async (view, [table, filter, keys]) => {
        const plan = await opened().query<{ explain: string }>(
          `EXPLAIN indexes = 1 SELECT * FROM ${view} WHERE ${filter}`,
        )
        const keysOf = primaryKeysUsed(plan.map(({ explain }) => explain))
        expect(keysOf[table]).toEqual(keys)
        for (const inner of Object.values(keysOf)) expect(inner.length).toBeGreaterThanOrEqual(2)
      },
    )
  })
}

/** Parses the plan: each table read, followed by the primary-key columns that narrow the read, one per line. */
function primaryKeysUsed(plan: string[]): Record<string, string[]> {
  const used: Record<string, string[]> = {}
  let table = ''
  let at: 'elsewhere' | 'primary key' | 'its keys' = 'elsewhere'
  for (const drawn of plan) {
    const text = drawn.replace(/^[\s│├└─]+/u, '').trim()
    const read = /^ReadFromMergeTree \((?:\w+\.)?(\w+)\)/.exec(text)?.[1]
    if (read !== undefined) {
      table = read
      used[table] = []
    } else if (text === 'PrimaryKey') at = 'primary key'
    else if (text === 'Keys:' && at === 'primary key') at = 'its keys'
    else if (/^\w+$/.test(text) && at === 'its keys') used[table]?.push(text)
    else at = 'elsewhere'
  }
  return used
}
