/** The store of a played chain after a stop, compared with SQL over its raw trades. */
import { expect, test } from 'vitest'
import { UPDATE_WINDOWS, WINDOWS } from '../../../services/core/domain/chains.js'
import { type Window, windowOf } from '../../../services/core/domain/packed-windows.js'
import type { Store } from '../../../services/core/store/port.js'
import { amountOf } from '../../rig/http/decimals.js'
import { known, rowsOf, storedCandleDifferences, tradeDifferences, tradesSource } from '../../rig/http/stored.js'
import { differences } from '../../rig/reference/compare.js'
import type { Reference } from '../../rig/reference/recompute.js'
import { windowsSql } from '../../rig/reference/sql.js'

/** `store` and `reference` are there once the tests run. */
export function testStoredRows(chain: string, store: () => Store, reference: () => Reference): void {
  const nullIfUnknown = (value: number): number | null => (Number.isNaN(value) ? null : value)

  test('stores each trade', async () => expect(await tradeDifferences(store(), reference())).toEqual([]))

  test('stores each candle as SQL computes it from the trades', async () =>
    expect(await storedCandleDifferences(store(), reference())).toEqual([]))

  test('stores the windows of each pair as SQL computes them from the trades', async () => {
    type Row = { pair: string; window: string } & { [K in keyof Window]: number | null }
    const made = await rowsOf<Row>(store(), windowsSql(tradesSource(reference()), reference().now))
    const rows = await rowsOf<{ pair: string; windows: (number | null)[] }>(
      store(),
      `SELECT pair, windows FROM pair_rows FINAL WHERE chain = '${chain}' AND tx_count > 0`,
    )
    const stored = rows.flatMap(({ pair, windows }) => {
      const packed = Float64Array.from(windows, (figure) => figure ?? Number.NaN)
      return UPDATE_WINDOWS.map((name) => [`${pair} ${name}`, orNull(windowOf(packed, name))] as const)
    })
    const expected = made.filter(({ window }) => (UPDATE_WINDOWS as readonly string[]).includes(window))
    const bySql = new Map(expected.map(({ pair, window, ...values }) => [`${pair} ${window}`, values]))
    expect(bySql.size).toBeGreaterThan(100)
    expect(differences(new Map(stored), bySql)).toEqual([])
  })

  test('stores what each pair was worth at the end of each hour', async () => {
    type Row = { pair: string; hour: number } & Record<string, number | string | null>
    const rows = await rowsOf<Row>(
      store(),
      `SELECT *, toUInt32(time) AS hour FROM pair_hour_rows FINAL WHERE chain = '${chain}' AND is_deleted = 0`,
    )
    const stored = rows.map((row): [string, object] => [
      `${row.pair}|${row.hour}`,
      {
        ...{ priceUsd: known(row.price_usd), tvlUsd: known(row.tvl), liquidityUsd: known(row.liquidity_usd) },
        ...{ supply: known(row.supply), supplyLeft: known(row.supply_left) },
      },
    ])
    expect(stored.length).toBeGreaterThan(20)
    expect(differences(new Map(stored), reference().pairHours)).toEqual([])
  })

  test('stores how many holders each token had at the end of each hour in which their number changed', async () => {
    const rows = await rowsOf<{ token: string; hour: number; holders: string }>(
      store(),
      `SELECT token, toUInt32(time) AS hour, holders FROM holder_counts WHERE chain = '${chain}'`,
    )
    const stored = rows.map(({ token, hour, holders }): [string, number] => [`${token}|${hour}`, Number(holders)])
    expect(stored.length).toBeGreaterThan(0)
    expect(new Map(stored)).toEqual(reference().holderHours)
  })

  test('stores each main pair change', async () => {
    type Row = { token: string; block_number: string; old_pair: string; new_pair: string }
    const rows = await rowsOf<Row>(
      store(),
      `SELECT * FROM main_pair_rows FINAL WHERE chain = '${chain}' AND is_deleted = 0`,
    )
    const got = rows.map(
      ({ token, block_number, old_pair, new_pair }) => `${block_number} ${token} ${old_pair}>${new_pair}`,
    )
    const expected = reference().mainPairChanges.map(
      ({ block, token, old_pair, new_pair }) => `${block} ${token} ${old_pair ?? ''}>${new_pair ?? ''}`,
    )
    expect(expected.length).toBeGreaterThan(10)
    expect(got.sort()).toEqual(expected.sort())
  })

  test('lists each holder in the view, with decimals applied', async () => {
    type Row = { token: string; holder: string; balance: number | null; balance_raw: string }
    const rows = await rowsOf<Row>(store(), `SELECT * FROM holders WHERE chain = '${chain}'`)
    const got = new Map(
      rows.map(({ token, holder, balance, balance_raw }) => [
        `${token}|${holder}`,
        { balance: known(balance), balance_raw },
      ]),
    )
    const expected = [...reference().holders].map(([key, balance]) => {
      const decimals = reference().tokens.get(key.split('|')[0] ?? '')?.decimals ?? null
      return [key, { balance: amountOf(String(balance), decimals), balance_raw: String(balance) }] as const
    })
    expect(expected.length).toBeGreaterThan(50)
    expect(differences(got, new Map(expected))).toEqual([])
  })

  test('has correct rows in the trades view', async () => {
    const rows = await rowsOf<Record<string, unknown>>(
      store(),
      `SELECT pair, id, side, token_in, token_out, amount_in, amount_out, reserve0, price_usd, amount_usd, flags, good,
         toUInt32(time) AS at FROM trades WHERE chain = '${chain}'`,
    )
    const got = new Map(rows.map(({ pair, id, ...row }) => [`${String(pair)} ${String(id)}`, row]))
    const expected = reference().trades.map((trade) => {
      const pair = reference().pairs.get(trade.pair)
      const [target, quote] = [pair?.target_token ?? '', pair?.quote_token ?? '']
      const [token_in, token_out] = trade.sell ? [target, quote] : [quote, target]
      const decimals = (token: string): number | null => reference().tokens.get(token)?.decimals ?? null
      const flags = ['dust', 'outlier', 'unpriced'].filter((_, bit) => (trade.flags >> bit) % 2 === 1)
      return [
        `${trade.pair} ${trade.id}`,
        {
          ...{
            side: trade.sell ? 'sell' : 'buy',
            token_in,
            token_out,
            at: trade.time,
            flags,
            good: Number(flags.length === 0),
          },
          amount_in: nullIfUnknown(amountOf(trade.amount_in, decimals(token_in))),
          amount_out: nullIfUnknown(amountOf(trade.amount_out, decimals(token_out))),
          reserve0: nullIfUnknown(amountOf(trade.reserve0, decimals(pair?.token0 ?? ''))),
          price_usd: nullIfUnknown(trade.price_usd),
          amount_usd: nullIfUnknown(trade.amount_usd),
        },
      ] as const
    })
    expect(differences(got, new Map(expected))).toEqual([])
  })

  test('has correct rows in the pairs view', async () => {
    const windowNames = WINDOWS.slice(2)
    const columns = windowNames.map((name) => `volume_${name}, buys_${name}, sells_${name}, makers_${name}`)
    const rows = await rowsOf<Record<string, unknown>>(
      store(),
      `SELECT pair, target, quote, price_usd, tvl, tx_count, open_price_usd, high_24h, low_24h, ${columns.join(', ')}
       FROM pairs WHERE chain = '${chain}'`,
    )
    const numbers = ({ pair: _, target, quote, ...row }: Record<string, unknown>) => ({
      ...{ target, quote },
      ...Object.fromEntries(Object.entries(row).map(([name, value]) => [name, known(value)])),
    })
    const got = new Map(rows.map((row) => [String(row.pair), numbers(row)]))
    const expected = [...reference().pairs].map(([address, pair]) => {
      const windows = windowNames.flatMap((name) => {
        const window = pair.windows[WINDOWS.indexOf(name)]
        const volume = (window?.buy_volume ?? 0) + (window?.sell_volume ?? 0)
        return [
          [`volume_${name}`, volume],
          [`buys_${name}`, window?.buys],
          [`sells_${name}`, window?.sells],
          [`makers_${name}`, window?.makers],
        ] as const
      })
      const day = pair.windows[WINDOWS.indexOf('24h')]
      const { target_token: target, quote_token: quote, price_usd, tvl, tx_count, open_price_usd } = pair
      const facts = { target, quote, price_usd, tvl, tx_count, open_price_usd, high_24h: day?.high, low_24h: day?.low }
      return [address, { ...facts, ...Object.fromEntries(windows) }] as const
    })
    expect(differences(got, new Map<string, object>(expected))).toEqual([])
  })

  test('has correct rows in the tokens view', async () => {
    const rows = await rowsOf<Record<string, unknown>>(
      store(),
      `SELECT token, symbol, decimals, total_supply, price_usd, main_pair, tvl, holders, volume_24h, makers_24h
       FROM tokens WHERE chain = '${chain}'`,
    )
    const got = new Map(
      rows.map(({ token, ...row }) => [
        String(token),
        { ...row, holders: known(row.holders), makers_24h: known(row.makers_24h) },
      ]),
    )
    const expected = [...reference().tokens].map(([address, token]) => {
      const day = token.windows[WINDOWS.indexOf('24h')]
      const { symbol, decimals, main_pair, holders } = token
      return [
        address,
        {
          ...{ symbol, decimals, main_pair, holders, makers_24h: day?.makers },
          total_supply: nullIfUnknown(amountOf(token.total_supply, decimals)),
          price_usd: nullIfUnknown(token.price_usd),
          tvl: nullIfUnknown(token.tvl),
          volume_24h: (day?.buy_volume ?? 0) + (day?.sell_volume ?? 0),
        },
      ] as const
    })
    expect(differences(got, new Map<string, object>(expected))).toEqual([])
  })
}

/** As SQL has unknown numbers. */
function orNull(window: Window): { [K in keyof Window]: number | null } {
  const entries = Object.entries(window).map(([name, value]) => [name, Number.isNaN(value) ? null : value])
  return Object.fromEntries(entries) as { [K in keyof Window]: number | null }
}
