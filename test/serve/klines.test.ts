import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INTERVALS } from '../../services/core/domain/chains.js'
import type { Candle } from '../../services/core/domain/packed-candles.js'
import { missingFields } from './fields.js'
import { type Rig, row, startRig } from './rig.js'
import { CHAIN, candle, firstUpdate, OTHER_PAIR, PAIR, pairUpdate, T0, TOKEN, tokenUpdate, update } from './updates.js'

let rig: Rig
type Point = { open: string; high: string; low: string; close: string; volume: string; time: number; filled?: boolean }
type Klines = { points: Point[]; total_count: number } & Record<string, unknown>

const MINUTES = 10
const dayS = (day: number) => Date.UTC(2023, 9, day) / 1000

async function klines(query: string, pair = PAIR): Promise<Klines> {
  const response = await rig.get(`/v2/klines/pair/${pair}-eth?${query}`)
  const body = (await response.json()) as { data: Klines }
  expect([response.status, body.data === undefined ? body : 'data']).toEqual([200, 'data'])
  return body.data
}
const times = async (query: string) => (await klines(query)).points.map(({ time }) => (time - T0) / 60)

async function store(candles: Candle[], version: number, removed = 0): Promise<void> {
  const rows = candles.map((one) =>
    row('candle_rows', { ...one, chain: CHAIN, pair: PAIR, version, is_deleted: removed }),
  )
  await rig.store.insert('candle_rows', rows.join(''))
}
const minute = (n: number, given: Partial<Candle> = {}) => candle({ time: T0 + n * 60, close_u: n + 1, ...given })

beforeAll(async () => {
  rig = await startRig()
  const minutes = Array.from({ length: MINUTES }, (_, n) => n).filter((n) => n !== 4)
  await store(
    minutes.map((n) => minute(n)),
    1,
  )
  // Days of September 30th to November 2nd, each opening where the one before closed.
  const days = Array.from({ length: 34 }, (_, n) => n)
  await store(
    days.map((n) =>
      candle({
        interval: 'k1440',
        time: dayS(n),
        open_u: n,
        first_u: n + 0.5,
        close_u: n + 1,
        high_u: n + 2,
        low_u: n,
        volume_u: 1,
      }),
    ),
    1,
  )
  await rig.append(firstUpdate())
  await rig.start()
  const now = T0 + MINUTES * 60 + 5
  const others = INTERVALS.filter((name) => !['k1', 'k1440'].includes(name)).map((interval) => candle({ interval }))
  const later = pairUpdate({
    pair: PAIR,
    info: null,
    candles: [minute(9, { close_u: 99 }), minute(2, { removed: true }), ...others],
  })
  await rig.feed(update({ seq: 2, number: 101, time: now, now, pairs: [later], tokens: [tokenUpdate()] }))
}, 60_000)
afterAll(() => rig.stop())

describe('GET /v2/klines/pair/{pair-id}', () => {
  it('overlays the store with changed, new and removed candles from memory, ascending', async () => {
    const data = await klines('interval=1')
    expect(missingFields('klinesPair', data)).toEqual([])
    expect(data).toMatchObject({
      pair_id: `${PAIR}-eth`,
      interval: 1,
      limit: 300,
      to_time: T0 + MINUTES * 60 + 5,
      total_count: 8,
      target_token_id: `${TOKEN}-eth`,
    })
    expect(data.points.map(({ time }) => (time - T0) / 60)).toEqual([0, 1, 3, 5, 6, 7, 8, 9])
    expect(data.points[0]).toEqual({ open: '1', high: '2.5', low: '0.5', close: '2', volume: '100', time: T0 })
    expect(data.points.at(-1)?.close).toBe('99')
  })

  it('serves every interval, by minutes and by k name', async () => {
    for (const interval of INTERVALS.filter((name) => name !== 'k1440')) {
      const expected = interval === 'k1' ? 8 : 1
      expect([interval, (await klines(`interval=${interval}`)).total_count]).toEqual([interval, expected])
      const minutes = interval === 's1' ? 's1' : interval.slice(1)
      expect((await klines(`interval=${minutes}`)).interval).toEqual(minutes === 's1' ? 's1' : Number(minutes))
    }
  })

  it('returns the latest by limit or to_time, and the first by from_time', async () => {
    expect(await times('interval=1&limit=3')).toEqual([7, 8, 9])
    expect(await times('interval=1&size=2')).toEqual([8, 9])
    expect(await times(`interval=1&limit=2&to_time=${T0 + 6 * 60}`)).toEqual([5, 6])
    expect(await times(`interval=1&limit=2&from_time=${T0 + 60}`)).toEqual([1, 3])
    expect(await times(`interval=1&from_time=${T0 + 61}&to_time=${T0 + 5 * 60}`)).toEqual([3, 5])
  })

  it('returns prices in USD, main coin and quote token', async () => {
    expect((await klines('interval=5&category=u')).points[0]?.close).toBe('2')
    expect((await klines('interval=5&category=m')).points[0]?.close).toBe('0.002')
    expect((await klines('interval=5&category=r')).points[0]).toMatchObject({ open: '0.001', volume: '0.1' })
  })

  it('opens a candle at its first price with open=first', async () => {
    expect((await klines('interval=5&open=first')).points[0]?.open).toBe('1.1')
  })

  it('fills buckets without trades with marked flat candles with fill=previous', async () => {
    const { points } = await klines(`interval=1&fill=previous&from_time=${T0 + 60}&to_time=${T0 + 4 * 60}`)
    const flat = { open: '2', high: '2', low: '2', close: '2', volume: '0', time: T0 + 120, filled: true }
    expect(points.map(({ time, filled }) => [(time - T0) / 60, filled ?? false])).toEqual([
      [1, false],
      [2, true],
      [3, false],
      [4, true],
    ])
    expect(points[1]).toEqual(flat)
    const latest = await klines('interval=1&fill=previous&limit=2')
    expect(latest.points.map(({ time, filled }) => [(time - T0) / 60, filled ?? false])).toEqual([
      [9, false],
      [10, true],
    ])
  })

  it('builds three-day and calendar-month candles from days', async () => {
    const months = await klines('interval=43200')
    expect(months.points.map(({ time }) => new Date(time * 1000).toISOString().slice(0, 10))).toEqual([
      '2023-09-01',
      '2023-10-01',
      '2023-11-01',
    ])
    expect(months.points[1]).toEqual({ open: '1', high: '33', low: '1', close: '32', volume: '31', time: dayS(1) })
    const threes = await klines('interval=4320&limit=1000')
    expect(threes.points.every(({ time }) => time % (3 * 86_400) === 0)).toBe(true)
    expect(threes.points.reduce((sum, { volume }) => sum + Number(volume), 0)).toBe(34)
    expect((await klines('interval=k43200&limit=1')).points[0]?.time).toBe(dayS(32))
    expect((await klines(`interval=43200&to_time=${dayS(1)}&limit=1`)).points[0]).toMatchObject({ volume: '31' })
  })

  it('builds candles of calendar years, and of five of them, from days', async () => {
    const volume = '34'
    const years = await klines('interval=525600')
    expect([years.interval, years.points]).toEqual([
      525600,
      [{ open: '0', high: '35', low: '0', close: '34', volume, time: Date.UTC(2023, 0) / 1000 }],
    ])
    const fives = await klines('interval=k2628000&limit=1000')
    expect([fives.interval, fives.points]).toEqual([
      ...[2628000, [expect.objectContaining({ open: '0', close: '34', volume, time: Date.UTC(2020, 0) / 1000 })]],
    ])
    const filled = await klines('interval=2628000&fill=previous')
    expect(filled.points).toEqual(fives.points)
  })

  it('returns hours if no interval is given', async () => {
    expect((await klines('')).interval).toBe(60)
    expect(await klines('limit=5')).toEqual(await klines('interval=60&limit=5'))
  })

  it('gives the reason for an empty result', async () => {
    const unknown = await rig.get(`/v2/klines/pair/0x${'00'.repeat(20)}-eth?interval=1`)
    expect([unknown.status, unknown.headers.get('x-reason')]).toEqual([200, 'unknown_pair'])
    const quiet = await rig.get(`/v2/klines/pair/${OTHER_PAIR}-eth?interval=1`)
    expect(quiet.headers.get('x-reason')).toBe('no_trades')
    expect((await quiet.json()) as object).toMatchObject({ data: { points: [], total_count: 0 } })
  })

  it.each([
    ['interval=', 'interval_unknown'],
    ['interval=7', 'interval_unknown'],
    ['interval=1&limit=0', 'query_invalid'],
    ['interval=1&limit=1001', 'query_invalid'],
    ['interval=1&limit=abc', 'query_invalid'],
    ['interval=1&limit=1.5', 'query_invalid'],
    ['interval=1&limit=', 'query_invalid'],
    ['interval=1&limit=5&limit=6', 'query_invalid'],
    ['interval=1&category=x', 'query_invalid'],
    ['interval=1&from_time=-5', 'query_invalid'],
    ['interval=1&from_time=10&to_time=5', 'range_invalid'],
    ['interval=1&fill=next', 'query_invalid'],
    ['interval=1&open=last', 'query_invalid'],
  ])('?%s is 400', async (query, code) => {
    const response = await rig.get(`/v2/klines/pair/${PAIR}-eth?${query}`)
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([400, code])
  })

  it('drops flushed candles from the overlay and serves the same', async () => {
    await store([minute(9, { close_u: 99 })], 2)
    await store([minute(2)], 2, 1)
    const progress = { chain: CHAIN, epoch: 1, seq: 2, number: 101, hash: '0x', now: T0, version: 2 }
    await rig.store.insert('progress_rows', row('progress_rows', progress))
    await expect
      .poll(async () => await (await rig.get('/metrics')).text())
      .toContain('dextape_serve_overlay_candles{chain="eth"} 0')
    const closes = (await klines('interval=1')).points.map(({ close }) => close)
    expect(closes).toEqual(['2', '2', '4', '6', '7', '8', '9', '99'])
  })
})
