/** The TradingView datafeed on a generated market with reorgs: its bars are the candles of the candle operations. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hashKey } from '../../services/core/keys/key-store.js'
import type { SymbolInfo } from '../../services/serve/datafeed/symbols.js'
import { playMarket } from './push/played-market.js'
import { keyRecord, type Rig, startRig } from './rig.js'

const CHAIN = 'eth'
const CHART_KEY = 'dx_charts'

let rig: Rig
let market: ReturnType<typeof playMarket>
/** A pair that traded on several days, and its token. */
let pair = ''
let token = ''

beforeAll(async () => {
  rig = await startRig({ flush: async () => market.flush() })
  const options = { retracts: { probability: 0.08, maxDepth: 6 }, swapsPerBlock: 6, quietHour: 0.05, quietDay: 0.05 }
  market = playMarket(rig, { seed: 18, chain: CHAIN, blocks: 150, options })
  await market.play(100)
  await market.flush()
  await market.play(market.remainingLines)
  rig.keys.set(hashKey(CHART_KEY), keyRecord({ id: 'charts', plan: 'free', only: 'datafeed' }))
  await rig.start()
  await vi.waitFor(async () => {
    const { chains } = await rig.serve.status()
    if (chains[0]?.seq !== market.last.seq) throw new Error('still behind')
  }, 10_000)
  const trades = new Map<string, number>()
  for (const { pairs } of market.updates)
    for (const one of pairs) trades.set(one.pair, (trades.get(one.pair) ?? 0) + one.trades.length)
  const [busiest = ''] = [...trades].sort(([, a], [, b]) => b - a).map(([address]) => address)
  pair = `${busiest}-${CHAIN}`
  const detail = (await (await rig.get(`/v2/pairs/${pair}`)).json()) as { data: { target_token: string } }
  token = `${detail.data.target_token}-${CHAIN}`
}, 60_000)
afterAll(() => rig.stop())

type Bars = { s: string; nextTime?: number } & Record<'t' | 'o' | 'h' | 'l' | 'c' | 'v', number[]>
type Point = Record<'open' | 'high' | 'low' | 'close' | 'volume', string> & { time: number }

async function udf<Body>(path: string, at = `/udf/${CHART_KEY}`): Promise<Body> {
  const response = await rig.get(`${at}/${path}`, {})
  return (await response.json()) as Body
}

async function points(path: string): Promise<Point[]> {
  const response = await rig.get(`/v2/klines/${path}`)
  return ((await response.json()) as { data: { points: Point[] } }).data.points
}

const barsOf = ({ t, o, h, l, c, v }: Bars) =>
  (t ?? []).map((time, at) => ({ time, open: o[at], high: h[at], low: l[at], close: c[at], volume: v[at] }))
const numbersOf = (found: readonly Point[]) =>
  found.map(({ time, open, high, low, close, volume }) => ({
    ...{ time, open: Number(open), high: Number(high), low: Number(low), close: Number(close), volume: Number(volume) },
  }))

const INTERVALS = {
  '1S': 's1',
  '1': '1',
  '60': '60',
  '240': '240',
  '1D': '1440',
  '3D': '4320',
  '1W': '10080',
  '1M': '43200',
}
const CATEGORIES = { USD: 'u', NATIVE: 'm', QUOTE: 'r' }

describe('history', () => {
  it('has the candles of the candle operations, of pairs and tokens, in every currency', async () => {
    const end = market.last.now + 40 * 86_400
    for (const [resolution, interval] of Object.entries(INTERVALS))
      for (const [code, category] of Object.entries(CATEGORIES))
        for (const [kind, id] of Object.entries({ pair, token })) {
          const bars = await udf<Bars>(
            `history?symbol=${id}&resolution=${resolution}&from=0&to=${end}&currencyCode=${code}&countback=200`,
          )
          const expected = await points(`${kind}/${id}?interval=${interval}&limit=200&category=${category}`)
          expect(expected.length).toBeGreaterThan(0)
          expect([resolution, code, kind, barsOf(bars)]).toEqual([resolution, code, kind, numbersOf(expected)])
        }
  })

  it('gives the bars from `from` to before `to`', async () => {
    const all = await points(`pair/${pair}?interval=1&limit=1000`)
    const [first, last] = [all.at(-40)?.time ?? 0, all.at(-5)?.time ?? 0]
    const bars = await udf<Bars>(`history?symbol=${pair}&resolution=1&from=${first}&to=${last}`)
    expect(bars.t).toEqual(all.slice(-40, -5).map(({ time }) => time))
  })

  it('gives as many bars as `countback` asks for, also from before `from`', async () => {
    const all = await points(`pair/${pair}?interval=1&limit=1000`)
    const to = all.at(-3)?.time ?? 0
    const bars = await udf<Bars>(`history?symbol=${pair}&resolution=1&from=${to - 60}&to=${to}&countback=30`)
    expect(bars.t).toEqual(all.slice(-33, -3).map(({ time }) => time))
  })

  it('names the newest bar before a range without any, and none before the first trade', async () => {
    const later = market.last.now + 365 * 86_400
    const newest = (await points(`pair/${pair}?interval=1&limit=1`)).at(-1)?.time
    const range = `from=${later}&to=${later + 600}`
    expect(await udf(`history?symbol=${pair}&resolution=1&${range}`)).toEqual({ s: 'no_data', nextTime: newest })
    expect(await udf(`history?symbol=${pair}&resolution=1&from=-100&to=600`)).toEqual({ s: 'no_data' })
  })
})

describe('symbols', () => {
  it('are described so that the library asks for what exists', async () => {
    const info = await udf<SymbolInfo>(`symbols?symbol=${pair}`)
    expect(info).toMatchObject({ ticker: pair, type: 'pair', exchange: CHAIN, timezone: 'Etc/UTC', session: '24x7' })
    expect(info).toMatchObject({ minmov: 1, currency_code: 'USD', has_seconds: true, seconds_multipliers: ['1'] })
    expect(info.intraday_multipliers).toEqual(['1', '5', '15', '30', '60', '120', '240'])
    const config = await udf<{ supported_resolutions: string[] }>('config')
    expect(config).toMatchObject({ supports_search: true, supports_group_request: false, supports_time: true })
    expect(info.supported_resolutions).toEqual(config.supported_resolutions)
    expect(await udf(`symbols?symbol=${pair}&currencyCode=NATIVE`)).toMatchObject({ currency_code: 'NATIVE' })
  })

  it('show five significant digits of a tiny price', async () => {
    const { pricescale } = await udf<SymbolInfo>(`symbols?symbol=${pair}`)
    const price = Number((await points(`pair/${pair}?interval=1&limit=1`)).at(-1)?.close)
    expect(Number((Math.round(price * pricescale) / pricescale).toPrecision(4))).toBe(Number(price.toPrecision(4)))
  })

  it('are found by symbol, pair, address in upper case, type and chain, and by the name found', async () => {
    const { name } = await udf<SymbolInfo>(`symbols?symbol=${pair}`)
    const [target = '', quote = ''] = name.split('/')
    type Result = { symbol: string; ticker: string; type: string }
    const search = (query: string, more = '') =>
      udf<Result[]>(`search?query=${encodeURIComponent(query)}&limit=30${more}`)
    const tickers = async (query: string, more = '') => (await search(query, more)).map(({ ticker }) => ticker)
    expect(await tickers(target)).toEqual(expect.arrayContaining([token, pair]))
    expect(await tickers(target.toUpperCase(), '&type=token')).toContain(token)
    expect(await tickers(target, '&type=token')).not.toContain(pair)
    expect(await tickers(`${target}/${quote}`)).toContain(pair)
    expect(await tickers(pair.slice(0, -4).toUpperCase())).toEqual([pair])
    expect(await tickers(target, '&exchange=bsc')).toEqual([])
    expect((await udf<Result[]>('search?query=&limit=3')).length).toBe(3)
    expect((await udf<SymbolInfo>(`symbols?symbol=${CHAIN}:${encodeURIComponent(target)}`)).name).toBe(target)
  })

  it('are listed by chain', async () => {
    const group = await udf<{ ticker: string[]; symbol: string[]; pricescale: number[] }>(`symbol_info?group=${CHAIN}`)
    expect(group.ticker).toContain(pair)
    expect(new Set([group.symbol.length, group.pricescale.length])).toEqual(new Set([group.ticker.length]))
  })
})

it('quotes the last price and the candles of today', async () => {
  type Quotes = { s: string; d: { s: string; n: string; v: Record<string, number> }[] }
  const { s, d } = await udf<Quotes>(`quotes?symbols=${pair},nothing-eth`)
  expect([s, d.map((one) => [one.n, one.s])]).toEqual([
    'ok',
    [
      [pair, 'ok'],
      ['nothing-eth', 'error'],
    ],
  ])
  const days = numbersOf(await points(`pair/${pair}?interval=1440&limit=2`))
  const [quote] = d
  expect(quote?.v.lp).toBe(days.at(-1)?.close)
  expect(await udf('time')).toBe(market.last.now)
})

describe('keys', () => {
  const codeOf = async (path: string, headers: Record<string, string>) => {
    const response = await rig.get(path, headers)
    const { code, s } = (await response.json()) as { code?: string; s?: string }
    return [response.status, code, s]
  }

  it('in the header are ordinary ones, in the address only those that open nothing else', async () => {
    expect((await rig.get('/udf/config')).status).toBe(200)
    expect(await codeOf('/udf/config', {})).toEqual([401, 'key_missing', 'error'])
    expect(await codeOf('/udf/dx_made_up/config', {})).toEqual([401, 'key_invalid', 'error'])
    expect(await codeOf('/udf/dx_test_key/config', {})).toEqual([403, 'key_not_in_address', 'error'])
    const inHeader = { 'x-api-key': CHART_KEY }
    expect((await rig.get('/udf/config', inHeader)).status).toBe(200)
    expect((await codeOf(`/v2/pairs/${pair}`, inHeader)).slice(0, 2)).toEqual([403, 'key_datafeed_only'])
    expect((await (await rig.post('/v2/ws/token', {}, inHeader)).json()) as object).toMatchObject({
      code: 'key_datafeed_only',
    })
  })

  it('stop working once revoked', async () => {
    rig.keys.set(hashKey('dx_old'), keyRecord({ id: 'old', only: 'datafeed', revokedAtMs: 1 }))
    expect(await codeOf('/udf/dx_old/time', {})).toEqual([401, 'key_invalid', 'error'])
  })
})

it.each([
  ['history?symbol=x', 'symbol_unknown'],
  ['history?resolution=1&from=0&to=1', 'query_invalid'],
  ['history?symbol=PAIR&resolution=7&from=0&to=1', 'resolution_unknown'],
  ['history?symbol=PAIR&resolution=1&from=5&to=1', 'range_invalid'],
  ['history?symbol=PAIR&resolution=1&from=a&to=1', 'query_invalid'],
  ['history?symbol=PAIR&resolution=1&to=1&countback=0', 'query_invalid'],
  ['history?symbol=PAIR&symbol=PAIR&resolution=1&from=0&to=1', 'query_invalid'],
  ['symbols?symbol=PAIR&currencyCode=EUR', 'currency_unknown'],
  ['symbol_info?group=mars', 'group_unknown'],
  [`quotes?symbols=${'a,'.repeat(60)}`, 'symbols_too_many'],
])('answers %s with an error the library can show', async (path, code) => {
  const body = await udf<{ code: string; s: string; errmsg: string }>(path.replaceAll('PAIR', pair))
  expect(body).toMatchObject({ code, s: 'error', errmsg: expect.stringMatching(/\.$/) })
})
