/** Signals that need more than one event: what is read from stored rows is what the rule says, and what is pushed. */

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { packCandles } from '../../../services/core/domain/packed-candles.js'
import { packWindows } from '../../../services/core/domain/packed-windows.js'
import type { Trade } from '../../../services/core/domain/records.js'
import type { Store } from '../../../services/core/store/port.js'
import { createQueryLanes } from '../../../services/serve/history/query-lanes.js'
import { createSmartWallets, type SmartWallets } from '../../../services/serve/history/smart-wallets.js'
import { createStoredSignals } from '../../../services/serve/history/stored-signals.js'
import { createServedChain, PairState, putPair } from '../../../services/serve/memory/served-chain.js'
import { breakoutOf } from '../../../services/serve/push/breakout.js'
import type { PairEntry } from '../../../services/serve/push/update-snapshot.js'
import { row, storeOfFile } from '../rig.js'
import { candle, DAY_S, pairInfo, pairUpdate, TOKEN, trade, updateWindows, WETH, window } from '../updates.js'

const store = storeOfFile('signals')
let runs = 0

type Made = { pair: string; timeS: number; block: number; trade: Trade }
type Given = { pair: string; minute: number; usd: number; wallet: string; flags: number; sell: boolean }

const PAIRS = ['0xpair0', '0xpair1', '0xpair2', '0xmoney']
const OTHER = '0xother'
const infos = new Map([
  ['0xpair0', pairInfo()],
  ['0xpair1', pairInfo()],
  ['0xpair2', pairInfo({ token0: OTHER })],
  ['0xmoney', pairInfo({ token0: WETH, token1: '0xusd' })],
])
/** Of the oldest trade; the list begins a day before the last one. */
const START_S = DAY_S - 30 * 3600
const HOUR_S = 3600

const hourOf = (timeS: number) => timeS - (timeS % HOUR_S)
const usdOf = ({ trade: { amount_usd: usd } }: Made) => (Number.isNaN(usd) ? 0 : usd)
const sumOf = (trades: readonly Made[]) => trades.reduce((sum, one) => sum + usdOf(one), 0)

function tradesOf(given: readonly Given[], perBlock = 2): Made[] {
  const ordered = given.toSorted((a, b) => a.minute - b.minute)
  return ordered.map(({ pair, usd, wallet, flags, sell }, index) => {
    const block = 1 + Math.floor(index / perBlock)
    const minute = ordered[perBlock * (block - 1)]?.minute ?? 0
    const place = { tx_index: 0, log_index: index, id: `${block}-${index}` }
    const made = trade({ ...place, wallet, flags, sell, amount_usd: usd === 0 ? Number.NaN : usd })
    return { pair, block, timeS: START_S + minute * 60 + (block % 60), trade: made }
  })
}

async function listed(trades: readonly Made[], smart: Pick<SmartWallets, 'at'>) {
  runs += 1
  const chain = `signals${runs}`
  const rows = trades.map(({ pair, timeS, block, trade: one }) =>
    row('trade_rows', {
      ...{ ...one, sell: one.sell ? 1 : 0, amount_usd: Number.isNaN(one.amount_usd) ? null : one.amount_usd },
      ...{ chain, pair, time: timeS, block_number: block, version: block, is_deleted: 0 },
    }),
  )
  const hours = groups(trades)
  const candles = [...hours.values()].map((own) => {
    const [{ pair, timeS } = { pair: '', timeS: 0 }] = own
    const volume = { volume_u: sumOf(own), version: 1, is_deleted: 0 }
    return row('candle_rows', { ...candle(), ...volume, chain, pair, interval: 'k60', time: hourOf(timeS) })
  })
  await store().insert('trade_rows', rows.join(''))
  await store().insert('candle_rows', candles.join(''))
  const state = createServedChain(chain)
  for (const pair of PAIRS) {
    const info = infos.get(pair) ?? pairInfo()
    putPair(state, PairState.of(pairUpdate({ pair, info }), info, 0), undefined)
  }
  state.nowS = trades.at(-1)?.timeS ?? START_S
  const signals = createStoredSignals(createQueryLanes(store()), async () => new Map(), smart, { nowMs: () => 0 })
  return { state, ...(await signals.of(state, [WETH])) }
}

function groups(trades: readonly Made[]): Map<string, Made[]> {
  const byHour = new Map<string, Made[]>()
  for (const one of trades) {
    const key = `${one.pair}/${hourOf(one.timeS)}`
    byHour.set(key, [...(byHour.get(key) ?? []), one])
  }
  return byHour
}

/** What a pair's update says after a block: its hour's candle and its day's window. */
function pushedBreakouts(trades: readonly Made[]): string[] {
  const ids: string[] = []
  for (const block of new Set(trades.map((one) => one.block)))
    for (const pair of PAIRS) {
      const own = trades.filter((one) => one.pair === pair && one.block === block)
      const [first] = own
      if (first === undefined) continue
      const known = trades.filter((one) => one.pair === pair && one.block <= block)
      const firstMinute = Math.floor(first.timeS / 60) - 1439
      const day = known.filter(({ timeS }) => Math.floor(timeS / 60) >= firstMinute)
      const hour = known.filter(({ timeS }) => hourOf(timeS) === hourOf(first.timeS))
      const windows = packWindows(updateWindows().map(() => window({ buy_volume: sumOf(day), sell_volume: 0 })))
      const candles = packCandles([
        candle({ volume_u: 1e9 }),
        candle({ interval: 'k60', time: hourOf(first.timeS), volume_u: sumOf(hour) }),
      ])
      const at = { pair: { windows } } as unknown as PairEntry['at']
      const times = { timeS: first.timeS, nowS: first.timeS }
      const found = breakoutOf(times, { at, trades: own.map((one) => one.trade), candles })
      if (found === undefined) continue
      expect(found.candleIndex).toBe(1)
      ids.push(found.trade.id)
    }
  return ids
}

const NO_RANKS: Pick<SmartWallets, 'at'> = { at: async (_, asOfS) => ({ wallets: [], asOfS }) }

const aTrade = (usd: fc.Arbitrary<number>): fc.Arbitrary<Given> =>
  fc.record({
    ...{ pair: fc.constantFrom(...PAIRS), minute: fc.integer({ min: 0, max: 30 * 60 - 1 }), usd },
    wallet: fc.constantFrom('ann', 'ben', 'cy', 'dan', 'eve'),
    flags: fc.constantFrom(0, 0, 0, 2),
    sell: fc.boolean(),
  })

it('lists the breakouts that pushes find in the same trades', async () => {
  let found = 0
  const usd = fc.constantFrom(0, 300, 1000, 2500, 4000, 6000, 10_000, 20_000)
  const market = fc.array(aTrade(usd), { minLength: 20, maxLength: 120 })
  const property = fc.asyncProperty(market, async (given) => {
    const trades = tradesOf(given)
    const { signals, state } = await listed(trades, NO_RANKS)
    const breakouts = signals.filter(({ type }) => type === 'volume_breakout')
    const fromS = state.nowS - 86_400
    const recent = new Set(trades.filter(({ timeS }) => timeS > fromS).map((one) => one.trade.id))
    const pushed = pushedBreakouts(trades).filter((id) => recent.has(id))
    expect(breakouts.map(({ id }) => id).sort()).toEqual(pushed.sort())
    found += pushed.length
    for (const { id, earlier, totalUsd, pair, timeS } of breakouts) {
      const hour = trades.filter((one) => one.pair === pair && hourOf(one.timeS) === hourOf(timeS))
      const upTo = hour.slice(0, hour.findIndex((one) => one.trade.id === id) + 1)
      expect(totalUsd).toBe(sumOf(upTo))
      const minute = upTo.filter((one) => Math.floor(one.timeS / 60) === Math.floor(timeS / 60))
      expect([...earlier.map((one) => one.id), id]).toEqual(minute.map((one) => one.trade.id))
    }
  })
  await fc.assert(property, { numRuns: 12, seed: 19 })
  expect(found).toBeGreaterThan(10)
})

it('is a breakout at the level, with a past to compare with, by a good trade', async () => {
  const at = (minute: number, usd: number, flags = 0): Given => ({
    ...{ pair: '0xpair0', minute, usd, wallet: 'ann', flags, sell: false },
  })
  const idsOf = async (given: Given[]) =>
    (await listed(tradesOf(given, 1), NO_RANKS)).signals.map(({ id, type }) => `${id} ${type}`)
  const late = 29 * 60
  // Half of the 30,000 of the day before.
  expect(await idsOf([at(600, 30_000), at(late, 9000), at(late + 1, 6000), at(late + 2, 9000)])).toEqual([
    '3-2 volume_breakout',
  ])
  expect(await idsOf([at(600, 30_000), at(late, 9000), at(late + 1, 5999)])).toEqual([])
  expect(await idsOf([at(600, 1000), at(late, 10_000)])).toEqual(['2-1 volume_breakout'])
  expect(await idsOf([at(600, 999), at(late, 10_000)])).toEqual([])
  expect(await idsOf([at(600, 1000), at(late, 9999)])).toEqual([])
  expect(await idsOf([at(600, 1000), at(late, 10_000, 2), at(late + 1, 10_000)])).toEqual([])
})

it('lists the buys with which three smart wallets of the day bought a token within ten minutes', async () => {
  // Who is smart changes at midnight, six hours after the start.
  const smartAt = (timeS: number) =>
    timeS <= DAY_S - 86_400 ? ['ann', 'ben', 'cy', 'dan'] : ['ben', 'cy', 'dan', 'eve']
  const smart: Pick<SmartWallets, 'at'> = {
    at: async (_, asOfS) => ({
      wallets: smartAt(asOfS + 3601).map((wallet) => ({ wallet }) as SmartWalletsOf),
      asOfS,
    }),
  }
  let found = 0
  const market = fc
    .array(aTrade(fc.constant(10)), { minLength: 150, maxLength: 250 })
    .map((given) => given.map((one) => ({ ...one, minute: 240 + (one.minute % 250) })))
  const property = fc.asyncProperty(market, async (given) => {
    const trades = tradesOf(given)
    const { signals, isRanked } = await listed(trades, smart)
    expect(isRanked).toBe(true)
    const tokenOf = ({ pair }: Made) => (pair === '0xmoney' ? WETH : pair === '0xpair2' ? OTHER : TOKEN)
    const buys = trades.filter(
      (one) =>
        !one.trade.sell &&
        one.trade.flags === 0 &&
        tokenOf(one) !== WETH &&
        smartAt(one.timeS).includes(one.trade.wallet),
    )
    const expected = buys.flatMap((one, index) => {
      const before = buys.slice(0, index).filter((b) => tokenOf(b) === tokenOf(one) && b.timeS > one.timeS - 600)
      const wallets = [...new Set(before.map((b) => b.trade.wallet))]
      if (wallets.includes(one.trade.wallet) || wallets.length !== 2) return []
      const firsts = wallets.map((wallet) => before.find((b) => b.trade.wallet === wallet)?.trade.id)
      return [[...firsts, one.trade.id]]
    })
    const got = signals.filter(({ type }) => type === 'smart_buys').reverse()
    expect(got.map(({ id, earlier }) => [...earlier.map((one) => one.id), id])).toEqual(expected)
    expect(got.every(({ totalUsd }) => totalUsd === 30)).toBe(true)
    found += expected.length
  })
  await fc.assert(property, { numRuns: 6, seed: 19 })
  expect(found).toBeGreaterThan(10)
})

it('lists the other signals if wallets cannot be ranked, and says so', async () => {
  const failing = { at: () => Promise.reject(new Error('too many rows')) }
  const whale = { pair: '0xpair0', minute: 1700, usd: 60_000, wallet: 'ann', flags: 0, sell: true }
  const { signals, isRanked } = await listed(tradesOf([whale]), failing)
  expect([signals.map(({ type }) => type), isRanked]).toEqual([['whale_sell'], false])
})

it('keeps a ranking of the past until a reorg reaches below it', async () => {
  const { state } = await listed(tradesOf([]), NO_RANKS)
  let queries = 0
  const query = async () => {
    queries += 1
    return [{ wallet: `w${queries}` }]
  }
  const lane = { query } as unknown as Store
  const smart = createSmartWallets({ cheap: lane, dear: lane }, async () => new Map(), { nowMs: () => 0 })
  const first = async () => (await smart.at(state, DAY_S, 7, [])).wallets[0]?.wallet
  const reorg = (time: number) => ({ at_block: 9, to_block: 8, depth: 1, time })
  state.nowS = DAY_S + 60
  expect([await first(), await first()]).toEqual(['w1', 'w1'])
  state.lastReorg = reorg(DAY_S + 50)
  expect(await first()).toBe('w2')
  state.nowS = DAY_S + 7200
  state.lastReorg = reorg(DAY_S - 1)
  expect(await first()).toBe('w3')
  state.lastReorg = reorg(DAY_S + 7000)
  expect(await first()).toBe('w3')
  state.epoch += 1
  expect(await first()).toBe('w4')
})

type SmartWalletsOf = Awaited<ReturnType<SmartWallets['at']>>['wallets'][number]
