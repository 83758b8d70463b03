import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Rig, row, startRig } from '../rig.js'
import { CHAIN, candle, firstUpdate, OTHER_PAIR, PAIR, pairUpdate, T0, TOKEN, update, WETH } from '../updates.js'

let rig: Rig
type Klines = {
  pair_id: string
  target_token_id: string
  total_count: number
  points: { time: number; close: string }[]
}

/** The close identifies the pair: n for PAIR, n * 100 for OTHER_PAIR. */
const minute = (n: number, pair: string) => candle({ time: T0 + n * 60, close_u: pair === PAIR ? n : n * 100 })
const stored = (n: number, pair: string) =>
  row('candle_rows', { ...minute(n, pair), chain: CHAIN, pair, version: 1, is_deleted: 0 })
const switched = (block: number, timeS: number, newPair: string) =>
  row('main_pair_rows', {
    ...{ chain: CHAIN, token: TOKEN, block_number: block, time: timeS, old_pair: '', new_pair: newPair, version: 1 },
  })

async function klines(query: string): Promise<Klines> {
  const response = await rig.get(`/v2/klines/token/${TOKEN}-eth?${query}`)
  expect([response.status, response.headers.get('x-cu-cost')]).toEqual([200, '10'])
  return ((await response.json()) as { data: Klines }).data
}
const closes = async (query: string) => (await klines(query)).points.map(({ close }) => Number(close))

beforeAll(async () => {
  rig = await startRig()
  const both = [1, 2, 3, 4, 5].flatMap((n) => [stored(n, PAIR), stored(n, OTHER_PAIR)])
  await rig.store.insert('candle_rows', both.join(''))
  // PAIR is main from minute 1, OTHER_PAIR from the last second of minute 3.
  const rows = [switched(80, T0 + 60, PAIR), switched(90, T0 + 239, OTHER_PAIR)]
  await rig.store.insert('main_pair_rows', rows.join(''))
  await rig.append(firstUpdate())
  await rig.start()
}, 60_000)
afterAll(() => rig.stop())

it('takes each bucket from the pair that is main at its end', async () => {
  const data = await klines('interval=1')
  expect(data).toMatchObject({ pair_id: `${PAIR}-eth`, target_token_id: `${TOKEN}-eth`, total_count: 5 })
  expect(data.points.map(({ close }) => Number(close))).toEqual([1, 2, 300, 400, 500])
})

it('applies limits and ranges across a main pair switch', async () => {
  expect(await closes('interval=1&limit=4')).toEqual([2, 300, 400, 500])
  expect(await closes(`interval=1&limit=2&from_time=${T0 + 120}`)).toEqual([2, 300])
  expect(await closes(`interval=1&limit=2&to_time=${T0 + 180}`)).toEqual([2, 300])
})

it('includes a switch and candles that are not flushed', async () => {
  const back = { token: TOKEN, old_pair: OTHER_PAIR, new_pair: PAIR }
  await rig.feed(
    update({
      ...{ seq: 2, number: 101, time: T0 + 301, now: T0 + 301, main_pair_changes: [back] },
      pairs: [pairUpdate({ info: null, candles: [candle({ time: T0 + 300, close_u: 55 })] })],
    }),
  )
  expect(await closes('interval=1')).toEqual([1, 2, 300, 400, 55])
  expect(await closes(`interval=1&fill=previous&limit=2&from_time=${T0 + 1}`)).toEqual([1, 2])
})

it('retracts stored and unstored switches before the store applies the reorg', async () => {
  const back = { token: TOKEN, old_pair: PAIR, new_pair: PAIR }
  const candles = [candle({ time: T0 + 300, close_u: 5 })]
  await rig.feed(
    update({
      ...{ seq: 3, kind: 'retract', number: 85, time: T0 + 230, now: T0 + 230, main_pair_changes: [back] },
      pairs: [pairUpdate({ info: null, candles })],
    }),
  )
  expect(await closes('interval=1')).toEqual([1, 2, 3, 4, 5])
})

it('names the bonding curve the token launched on', async () => {
  expect(await klines('interval=1')).not.toHaveProperty('pump_pair_id')
  await rig.feed(update({ seq: 4, number: 86, pairs: [pairUpdate({ pair: `${TOKEN}_fo` })] }))
  const curve = { pump_pair_id: `${TOKEN}_fo-eth` }
  expect(await klines('interval=1')).toMatchObject(curve)
  expect(await (await rig.get(`/v2/klines/pair/${TOKEN}_fo-eth?interval=1`)).json()).toMatchObject({ data: curve })
})

it('gives the reason for an empty result', async () => {
  const native = await rig.get(`/v2/klines/token/${WETH}-eth?interval=1`)
  expect([native.status, native.headers.get('x-reason')]).toEqual([200, 'no_main_pair'])
  const unknown = await rig.get(`/v2/klines/token/0x${'00'.repeat(20)}-eth?interval=1`)
  expect([unknown.status, unknown.headers.get('x-reason')]).toEqual([200, 'unknown_token'])
  expect(await unknown.json()).toMatchObject({ msg: 'token not found', data: { points: [], total_count: 0 } })
})

it('returns hours if no interval is given', async () => {
  expect(await klines('')).toEqual(await klines('interval=60'))
})

it.each(['interval=', 'interval=7', 'interval=1&limit=1001', 'interval=1&from_time=1700000000000'])(
  '?%s is 400',
  async (query) => {
    expect((await rig.get(`/v2/klines/token/${TOKEN}-eth?${query}`)).status).toBe(400)
  },
)
