/** GET /v2/candles/audit on a generated market with reorgs, late decimals, dust and outliers. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { CANDLE_FIGURES, unpackCandles } from '../../../services/core/domain/packed-candles.js'
import { countOf, seedOf } from '../../rig/counts.js'
import { createRandom } from '../../rig/market/random.js'
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

let rig: Rig
let market: ReturnType<typeof playMarket>
let candles: Key[] = []

beforeAll(async () => {
  rig = await startRig({ flush: async () => market.flush() })
  const options = { retracts: { probability: 0.08, maxDepth: 6 }, swapsPerBlock: 6, quietHour: 0.05, quietDay: 0.05 }
  market = playMarket(rig, { seed: seedOf('auditedCandles'), chain: CHAIN, blocks: 120, options })
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
    const random = createRandom(seedOf('auditedCandles'))
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
