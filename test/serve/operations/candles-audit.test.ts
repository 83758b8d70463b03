/** Where figures come from, and what they were: audits, price paths and value histories of a generated market with reorgs. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { CANDLE_FIGURES, unpackCandles } from '../../../services/core/domain/packed-candles.js'
import { countOf, seedsOf } from '../../rig/counts.js'
import { marketMoney } from '../../rig/market/money.js'
import { createRandom } from '../../rig/market/random.js'
import { recompute } from '../../rig/reference/recompute.js'
import { playMarket } from '../push/played-market.js'
import { type Rig, row, startRig } from '../rig.js'

const CHAIN = 'eth'

type Key = { pair: string; interval: string; time: number }
type Audit = {
  agree: boolean
  finalized: boolean
  time: number
  end_time: number
  trade_count: number
  differences: { currency: string; figure: string; candle: string | null; recomputed: string | null }[]
  candle: Record<'u' | 'm' | 'r', Record<string, string | null> | null>
  trades: { id: string; flags: string[]; quote_priced_by: string; price_usd: string | null }[]
}

type Step = {
  token_id: string
  price_usd: string | null
  priced_by: string
  pools: string[]
  trades: { pair_id: string; id: string; price_usd: string; quote_token_id: string }[]
  agree: boolean | null
}
type History = {
  points: { time: number; pair_id: string; tvl: string | null; market_cap: string | null }[]
  next_cursor?: string
}
type HolderCounts = { points: { time: number; holders: number }[]; next_cursor?: string }
type Path = { trade: { id: string; quote_token_id: string; quote_price_usd: string }; agree: boolean; steps: Step[] }

describe.each(seedsOf('auditedMarkets'))('market %i', (seed) => {
  let rig: Rig
  let market: ReturnType<typeof playMarket>
  let candles: Key[] = []

  beforeAll(async () => {
    rig = await startRig({ flush: async () => market.flush() })
    const options = { retracts: { probability: 0.08, maxDepth: 6 }, swapsPerBlock: 6, quietHour: 0.05, quietDay: 0.05 }
    market = playMarket(rig, { seed, chain: CHAIN, blocks: 120, options })
    await market.play(70)
    await market.flush()
    await market.play(market.remainingLines)
    await rig.start()
    await vi.waitFor(async () => {
      const { chains } = await rig.serve.status()
      if (chains[0]?.seq !== market.last.seq) throw new Error('still behind')
    }, 10_000)
    const known = new Map<string, Key>()
    for (const { pairs, retracted } of market.updates) {
      const gone = new Set(retracted.flatMap((one) => (one.gone ? [one.pair] : [])))
      for (const [key, { pair }] of known) if (gone.has(pair)) known.delete(key)
      for (const { pair, candles: packed } of pairs)
        for (const { interval, time, removed } of unpackCandles(packed)) {
          const key = `${pair} ${interval} ${time}`
          if (removed) known.delete(key)
          else known.set(key, { pair, interval, time })
        }
    }
    candles = [...known.values()]
  }, 60_000)
  afterAll(() => rig.stop())

  async function audit({ pair, interval, time }: Key, more = ''): Promise<Audit> {
    const query = `pair_id=${pair}-${CHAIN}&interval=${interval}&time=${time}${more}`
    const response = await rig.get(`/v2/candles/audit?${query}`)
    const { data } = (await response.json()) as { data: Audit }
    expect([query, response.status]).toEqual([query, 200])
    return data
  }

  describe('GET /v2/candles/audit', () => {
    it('agrees with every candle', async () => {
      const random = createRandom(seed)
      const wanted = countOf('auditedCandles')
      const sample = wanted >= candles.length ? candles : Array.from({ length: wanted }, () => random.pick(candles))
      for (const key of sample) {
        const { agree, differences, trade_count } = await audit(key)
        expect([key, agree, differences, trade_count > 0]).toEqual([key, true, [], true])
      }
      expect(sample.length).toBeGreaterThan(50)
    })

    it('lists the trades of the bucket, with their prices, flags and where the quote was priced', async () => {
      const day = candles.filter(({ interval }) => interval === 'k1440')
      const audits = await Promise.all(day.slice(0, 10).map((key) => audit(key, '&limit=1000')))
      const trades = audits.flatMap((one) => one.trades)
      expect(audits.map((one) => one.trades.length)).toEqual(audits.map((one) => one.trade_count))
      expect(trades.some(({ flags }) => flags.length === 0)).toBe(true)
      expect(trades.some(({ flags }) => flags.length > 0)).toBe(true)
      expect(trades.every(({ quote_priced_by }) => quote_priced_by !== '')).toBe(true)
      const [first] = day
      expect((await audit({ ...(first as Key), time: (first?.time ?? 0) + 5 }, '&limit=1')).trades.length).toBe(1)
    })

    it('names every figure of a wrong candle', async () => {
      const key = candles.find(({ interval }) => interval === 'k60') as Key
      const { candle, finalized } = await audit(key)
      const { u, m, r } = candle
      const figures = Object.fromEntries(
        CANDLE_FIGURES.map((name) => {
          const [figure = '', currency = ''] = name.split('_')
          const value = { u, m, r }[currency as 'u']?.[figure] ?? null
          return [name, value === null ? null : Number(value)]
        }),
      )
      const wrong = { ...key, ...figures, high_u: Number(u?.high) * 2, volume_m: 1, chain: CHAIN, is_deleted: 0 }
      await market.flush()
      await rig.store.insert('candle_rows', row('candle_rows', { ...wrong, version: Number.MAX_SAFE_INTEGER }))
      const node = rig.open({ hotHistoryBytes: 0, answerBytes: 0 })
      try {
        const { httpPort } = await node.start()
        const path = `/v2/candles/audit?pair_id=${key.pair}-${CHAIN}&interval=k60&time=${key.time}`
        const response = await fetch(`http://127.0.0.1:${httpPort}${path}`, { headers: { 'x-api-key': 'dx_test_key' } })
        const { data } = (await response.json()) as { data: Audit }
        expect([data.agree, data.finalized]).toEqual([false, finalized])
        expect(data.differences.map(({ currency, figure }) => `${figure}_${currency}`)).toEqual(['high_u', 'volume_m'])
      } finally {
        await node.stop()
      }
    })

    it.each([
      ['an unknown pair', `pair_id=0x${'0'.repeat(39)}1-eth&interval=60&time=0`, 'pair_unknown'],
      ['an interval that is not stored', 'pair_id=PAIR&interval=43200&time=0', 'interval_rolled_up'],
      ['no time', 'pair_id=PAIR&interval=60', 'query_invalid'],
    ])('refuses %s', async (_what, query, code) => {
      const pair = `${candles[0]?.pair}-${CHAIN}`
      const response = await rig.get(`/v2/candles/audit?${query.replace('PAIR', pair)}`)
      expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([400, code])
    })

    it('answers a bucket without trades with no candle', async () => {
      const { agree, candle, trade_count } = await audit({ pair: candles[0]?.pair ?? '', interval: '60', time: 0 })
      expect([agree, candle, trade_count]).toEqual([true, { u: null, m: null, r: null }, 0])
    })
  })

  async function dataOf<Data>(path: string): Promise<Data> {
    const response = await rig.get(path)
    expect([path, response.status]).toEqual([path, 200])
    return ((await response.json()) as { data: Data }).data
  }

  describe('GET /v2/txs/price', () => {
    it('leads from every trade through the trades that set each price, down to money', async () => {
      const { trades } = recompute(market.lines, marketMoney(CHAIN))
      const priced = trades.filter(({ price_usd }) => !Number.isNaN(price_usd))
      const random = createRandom(seed)
      const ways = new Map<string, number>()
      let longest = 0
      for (const { pair, id, quote_usd } of Array.from({ length: Math.min(countOf('auditedCandles'), 3000) }, () =>
        random.pick(priced),
      )) {
        const { trade, agree, steps } = await dataOf<Path>(`/v2/txs/price/${pair}-${CHAIN}?id=${id}`)
        expect([trade.id, Number(trade.quote_price_usd), agree]).toEqual([id, quote_usd, true])
        const explained = new Set(steps.map(({ token_id }) => token_id))
        expect(explained.has(trade.quote_token_id)).toBe(true)
        for (const { priced_by, pools, trades: found, agree: isSame } of steps) {
          ways.set(priced_by, (ways.get(priced_by) ?? 0) + 1)
          if (pools.length === 0) expect(['anchor', 'peg']).toContain(priced_by)
          else if (!['last', 'held'].includes(priced_by)) {
            expect(isSame).toBe(true)
            expect(found.map(({ pair_id }) => pair_id)).toEqual(pools)
            for (const one of found) expect(explained.has(one.quote_token_id)).toBe(true)
          }
        }
        longest = Math.max(longest, steps.length)
      }
      expect([...ways.keys()]).toEqual(expect.arrayContaining(['anchor', 'main', 'median']))
      expect(longest).toBeGreaterThan(2)
    })

    it('without an id explains the last trade, and refuses one that the pair does not have', async () => {
      const pair = `${candles[0]?.pair}-${CHAIN}`
      const { txs } = await dataOf<{ txs: { id: string }[] }>(`/v2/txs/swap/${pair}?sort=desc&limit=1`)
      expect((await dataOf<Path>(`/v2/txs/price/${pair}`)).trade.id).toBe(txs[0]?.id)
      const response = await rig.get(`/v2/txs/price/${pair}?id=1-1`)
      expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([400, 'trade_unknown'])
    })
  })

  describe('the history of TVL and market cap', () => {
    it('of each pair is what a recomputation finds at the end of every hour, in pages of any size', async () => {
      const { pairHours, pairs } = recompute(market.lines, marketMoney(CHAIN))
      const known = (value: number) => (Number.isNaN(value) ? null : value)
      for (const pair of [...pairs.keys()].slice(0, 12)) {
        const expected = [...pairHours].flatMap(([key, { tvlUsd, priceUsd, supplyLeft }]) => {
          const [name, hour] = key.split('|')
          return name === pair ? [[Number(hour), known(tvlUsd), known(priceUsd * supplyLeft)]] : []
        })
        const path = `/v2/pairs/${pair}-${CHAIN}/history?limit=3`
        const points: History['points'] = []
        for (let more = ''; ; ) {
          const page = await dataOf<History>(`${path}${more}`)
          points.unshift(...page.points)
          if (page.next_cursor === undefined) break
          more = `&cursor=${page.next_cursor}`
        }
        const got = points.map(({ time, tvl, market_cap }) => [time, numberOf(tvl), numberOf(market_cap)])
        expect([pair, got]).toEqual([
          pair,
          expected.map((row) => row.map((value) => (value === null ? null : expect.closeTo(value, 6)))),
        ])
        const days = await dataOf<History>(`/v2/pairs/${pair}-${CHAIN}/history?interval=1440&limit=1000`)
        const last = new Map(points.map((point) => [Math.floor(point.time / 86_400) * 86_400, point]))
        expect(days.points).toEqual([...last].map(([time, point]) => ({ ...point, time })))
      }
    })

    it('of holders is what a recomputation counts at the end of every hour, in pages of any size', async () => {
      const { holderHours } = recompute(market.lines, marketMoney(CHAIN))
      const tokens = new Set([...holderHours.keys()].map((key) => key.slice(0, key.indexOf('|'))))
      expect(tokens.size).toBeGreaterThan(0)
      for (const token of tokens) {
        const expected = [...holderHours].flatMap(([key, holders]) =>
          key.startsWith(`${token}|`) ? [{ time: Number(key.slice(token.length + 1)), holders }] : [],
        )
        const points: HolderCounts['points'] = []
        for (let more = ''; ; ) {
          const path = `/v2/tokens/holders/${token}-${CHAIN}/history?limit=2${more}`
          const page = await dataOf<HolderCounts>(path)
          points.unshift(...page.points)
          if (page.next_cursor === undefined) break
          more = `&cursor=${page.next_cursor}`
        }
        expect([token, points]).toEqual([token, expected.toSorted((a, b) => a.time - b.time)])
        const days = await dataOf<HolderCounts>(`/v2/tokens/holders/${token}-${CHAIN}/history?interval=1440`)
        const last = new Map(points.map(({ time, holders }) => [Math.floor(time / 86_400) * 86_400, holders]))
        expect(days.points).toEqual([...last].map(([time, holders]) => ({ time, holders })))
      }
    })

    it('of a token follows its main pair', async () => {
      const { tokens } = recompute(market.lines, marketMoney(CHAIN))
      const found = [...tokens].filter(([, { main_pair }]) => main_pair !== null).slice(0, 8)
      for (const [token, { main_pair }] of found) {
        const { points } = await dataOf<History>(`/v2/tokens/${token}-${CHAIN}/history?limit=1000`)
        const own = await dataOf<History>(`/v2/pairs/${main_pair}-${CHAIN}/history?limit=1000`)
        const times = points.map(({ time }) => time)
        expect([times, new Set(times).size]).toEqual([times.toSorted((a, b) => a - b), times.length])
        const byTime = new Map(own.points.map((point) => [point.time, point]))
        for (const point of points)
          if (point.pair_id === `${main_pair}-${CHAIN}`) expect(point).toEqual(byTime.get(point.time))
      }
    })
  })
})

const numberOf = (text: string | null): number | null => (text === null ? null : Number(text))
