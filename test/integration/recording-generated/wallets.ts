/** Wallets of a chain that `up` has played: swaps, positions and profits match a recomputation from all surviving trades. */
import { expect, test } from 'vitest'
import { isLongRun } from '../../rig/counts.js'
import type { Played } from '../../rig/http/against-reference.js'
import { dataOf } from '../../rig/http/ask.js'
import { answerDifferences, type Expected, exactDecimal, readNumber } from '../../rig/http/decimals.js'
import type { Up } from '../../rig/http/up.js'
import { marketMoney } from '../../rig/market/money.js'
import { differences } from '../../rig/reference/compare.js'
import { positionsOf, type ReferencePosition, walletsOf, walletTrades } from '../../rig/reference/positions.js'
import type { Reference } from '../../rig/reference/recompute.js'
import { smartWallets } from '../../rig/reference/smart-wallets.js'

type Row = Record<string, unknown>
const SOME_WALLETS = 5

export const someWallets = (reference: Reference): string[] =>
  isLongRun() ? walletsOf(reference) : walletsOf(reference).slice(0, SOME_WALLETS)

/** `up` and `played` are there once the tests run. */
export function testWallets(chain: string, up: () => Up, played: () => Played): void {
  const get = async <Data>(path: string) => dataOf<Data>(await up().get(path))
  const of = (wallet: string) => `wallet_address=${wallet}&chain=${chain}`

  async function allSwaps(wallet: string, by: 'last_id' | 'cursor'): Promise<{ items: Row[]; counts: Set<number> }> {
    const items: Row[] = []
    const counts = new Set<number>()
    for (let next = ''; ; ) {
      const page = await get<{ result: Row[]; tx_count: number; next_cursor?: string }>(
        `/v2/address/tx?${of(wallet)}&from_time=0&page_size=9${next}`,
      )
      items.push(...page.result)
      counts.add(page.tx_count)
      if (page.next_cursor === undefined) return { items, counts }
      next = by === 'cursor' ? `&cursor=${page.next_cursor}` : `&last_id=${items.at(-1)?.id}`
    }
  }

  test('returns every swap of a wallet once, newest first, on pages', async () => {
    const { reference } = played()
    for (const [at, wallet] of someWallets(reference).entries()) {
      const expected = walletTrades(reference, wallet).reverse()
      const { items, counts } = await allSwaps(wallet, at % 2 === 0 ? 'last_id' : 'cursor')
      const plain = items.map(({ id, time, pair_address, tx_swap_type, amount_usd, from_amount }) => ({
        ...{ id, time, pair: pair_address, sell: tx_swap_type === 1, usd: readNumber(amount_usd), from_amount },
      }))
      const wanted = expected.map((trade) => {
        const pair = reference.pairs.get(trade.pair)
        const from = trade.sell ? pair?.target_token : pair?.quote_token
        const decimals = reference.tokens.get(from ?? '')?.decimals ?? null
        return {
          ...{ id: trade.id, time: trade.time, pair: trade.pair, sell: trade.sell, usd: trade.amount_usd },
          from_amount: exactDecimal(trade.amount_in, decimals),
        }
      })
      expect([wallet, differences(plain, wanted)]).toEqual([wallet, []])
      expect([...counts]).toEqual([expected.length])
    }
  })

  test('returns every position of a wallet with its profit', async () => {
    const { reference } = played()
    let traded = 0
    for (const wallet of someWallets(reference)) {
      const expected = positionsOf(reference, wallet)
      const got = await get<Row[]>(`/v2/address/walletinfo/tokens?${of(wallet)}&pageSize=500`)
      expect(got.map(({ token }) => token).sort()).toEqual([...expected.keys()].sort())
      for (const row of got) {
        const position = expected.get(String(row.token)) as ReferencePosition
        const wanted = { ...profitFields(reference, String(row.token), position), last_txn_time: position.lastTime }
        const others = Object.keys(row).filter((name) => !(name in wanted))
        expect(answerDifferences(row, wanted, others, `${wallet} ${row.token}`)).toEqual([])
        traded += position.buys + position.sells
      }
      const profits = got.map(({ total_profit }) => readNumber(total_profit) as number)
      const known = profits.filter((profit) => !Number.isNaN(profit))
      expect(known).toEqual([...known].sort((a, b) => b - a))
      const info = await get<Row>(`/v2/address/walletinfo?${of(wallet)}`)
      const total = known.reduce((sum, profit) => sum + profit, 0)
      expect(differences(readNumber(info.total_profit), known.length === 0 ? Number.NaN : total)).toEqual([])
      expect([info.total_purchase, info.total_sold]).toEqual([
        [...expected.values()].reduce((sum, { buys }) => sum + buys, 0),
        [...expected.values()].reduce((sum, { sells }) => sum + sells, 0),
      ])
    }
    expect(traded).toBeGreaterThan(50)
  })

  test('returns the profit in one token by average cost and by first in, first out', async () => {
    const { reference } = played()
    for (const wallet of someWallets(reference).slice(0, isLongRun() ? 100 : 2)) {
      for (const [token, position] of positionsOf(reference, wallet)) {
        const row = await get<Row>(`/v2/address/pnl?${of(wallet)}&token_address=${token}`)
        const wanted: Expected = {
          ...profitFields(reference, token, position),
          ...{ fifo_realized_profit: position.fifoRealized, fifo_unrealized_profit: position.fifoUnrealized },
          ...{ max_single_purchase_usd: position.maxBuyUsd, max_single_sold_usd: position.maxSellUsd },
        }
        const others = Object.keys(row).filter((name) => !(name in wanted))
        expect(answerDifferences(row, wanted, others, `${wallet} ${token}`)).toEqual([])
      }
    }
  })

  test.each(['1D', '7D', '30D'])(
    'ranks wallets by what they made in %s, without wash and self-funded trades',
    async (interval) => {
      const { reference } = played()
      const { native, anchor, stables } = marketMoney(chain)
      const money = [native, anchor, ...stables].flatMap((token) => token ?? [])
      const expected = smartWallets(reference, Number.parseInt(interval, 10), money)
      const got = await get<Row[]>(`/v2/address/smart_wallet/list?chain=${chain}&interval=${interval}&page_size=500`)
      const plain = got.map((row) => ({
        ...{
          wallet: row.wallet_address,
          profit: readNumber(row.total_profit),
          rate: readNumber(row.total_profit_rate),
        },
        ...{ bought: readNumber(row.total_purchase), sold: readNumber(row.total_sold), trades: row.total_trades },
        ...{ winRate: readNumber(row.token_profit_rate), above900: row.profit_above_900_percent_num },
        ...{ flat: row.profit_neg10_10_percent_num, lost: row.profit_neg100_neg50_percent_num },
      }))
      const wanted = expected.map(({ wins, closed, rates, ...one }) => ({
        ...one,
        winRate: wins / closed,
        above900: rates.filter((rate) => rate >= 9).length,
        flat: rates.filter((rate) => rate >= -0.1 && rate < 0.1).length,
        lost: rates.filter((rate) => rate < -0.5).length,
      }))
      expect(differences(plain, wanted)).toEqual([])
      expect(wanted.length).toBeGreaterThan(0)
    },
  )

  test('lists the events that are signals, newest first', async () => {
    const { reference } = played()
    const times = new Map(reference.blocks.map(({ number, time }) => [number, time]))
    const whales = reference.trades
      .filter(({ time, flags, amount_usd }) => time > reference.now - 86_400 && flags === 0 && amount_usd >= 50_000)
      .map(({ id, sell, time, pair }) => ({ id: `${id}-whale_${sell ? 'sell' : 'buy'}`, time, pair }))
    const got: Row[] = []
    for (let page = 1; ; page += 1) {
      const rows = await get<Row[]>(`/v2/signals/public/list?chain=${chain}&pageSize=20&pageNO=${page}`)
      got.push(...rows)
      if (rows.length < 20) break
    }
    const idsOf = (rows: { id?: unknown }[]) => rows.map(({ id }) => String(id)).sort()
    expect(idsOf(got.filter(({ action_wallet_type }) => action_wallet_type === 'whale'))).toEqual(idsOf(whales))
    const created = reference.liquidity.filter(({ kind }) => kind === 'create').map(({ id }) => id)
    for (const { id, signal_type, signal_time } of got.filter(({ signal_type }) => signal_type === 'first_liquidity'))
      expect([
        created.includes(String(id).replace(`-${signal_type}`, '')),
        times.has(Number.parseInt(String(id), 10)),
        Number(signal_time) > 0,
      ]).toEqual([true, true, true])
    const order = got.map(({ signal_time }) => Number(signal_time))
    expect(order).toEqual(order.toSorted((a, b) => b - a))
    expect(whales.length).toBeGreaterThan(0)
  })

  test('returns what one transaction moved', async () => {
    const { reference } = played()
    const [wallet = ''] = walletsOf(reference)
    const trade = walletTrades(reference, wallet).findLast(({ sell }) => sell)
    if (trade === undefined) throw new Error(`${wallet} never sold`)
    const path = `/v2/txs/detail?chain=${chain}&account_address=${wallet}&tx_hash=${trade.tx_hash}`
    const items = await get<Row[]>(path)
    const own = items.filter(({ id }) => id === trade.id)
    const pair = reference.pairs.get(trade.pair)
    expect(own.map(({ flow_type, token_address }) => [flow_type, token_address])).toEqual([
      ['out', pair?.target_token],
      ['in', pair?.quote_token],
    ])
  })
}

const finite = (value: number): number => (Number.isFinite(value) ? value : Number.NaN)

function profitFields(reference: Reference, token: string, position: ReferencePosition): Expected {
  const decimals = reference.tokens.get(token)?.decimals ?? null
  const exact = (raw: bigint | null) =>
    raw === 0n && decimals === null ? '0' : exactDecimal(raw?.toString() ?? null, decimals)
  return {
    ...{ total_purchase: position.buys, total_sold: position.sells },
    ...{ total_purchase_amount: exact(position.bought), total_sold_amount: exact(position.sold) },
    ...{ total_sold_usd: position.sellUsd },
    average_purchase_price_usd: finite(position.avgPurchase),
    average_sold_price_usd: finite(position.avgSale),
    realized_profit: finite(position.realized),
    unrealized_profit: finite(position.unrealized),
    total_profit: finite(position.total),
    total_profit_ratio: finite(position.totalRatio),
  }
}
