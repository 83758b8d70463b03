/** The change since midnight of a pair whose last block has a time before midnight, on a chain that is past it. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { binaryRows } from '../rig/binary-rows.js'
import { type Rig, row, startRig } from './rig.js'
import { CHAIN, DAY_S, PAIR, pairUpdate, storedColumns, tokenUpdate, update, weth } from './updates.js'

const NOW_S = DAY_S + 600
const pair = pairUpdate({ price_usd: 2, price_day_usd: 1.25, updated_at: DAY_S - 48, last_trade_at: DAY_S - 48 })

let rig: Rig

beforeAll(async () => {
  rig = await startRig()
}, 60_000)
afterAll(() => rig.stop())

const dayChange = async () => {
  const answer = await rig.get(`/v2/pairs/${PAIR}-${CHAIN}`)
  return ((await answer.json()) as { data: { price_change_1d: string } | null }).data?.price_change_1d
}

it('is the change that the update carries', async () => {
  await rig.start()
  await rig.feed(update({ time: DAY_S - 48, now: NOW_S, pairs: [pair], tokens: [tokenUpdate(), weth()] }))
  expect(Number(await dayChange())).toBe(60)
})

it('is the same after a restart, since a stored trade is of today', async () => {
  const shared = { chain: CHAIN, version: 2 ** 40 + 1, is_deleted: 0 }
  const tokens = [tokenUpdate(), weth()].map((token) => ({ ...storedColumns(token), ...shared }))
  await rig.store.insertRows('pair_rows', binaryRows('pair_rows', [{ ...storedColumns(pair), ...shared }]))
  await rig.store.insertRows('token_rows', binaryRows('token_rows', tokens))
  await rig.store.insert('trade_rows', row('trade_rows', { ...shared, pair: PAIR, time: DAY_S + 300 }))
  const progress = { ...shared, epoch: 1, seq: 1, number: 100, hash: '0xb100', now: NOW_S }
  await rig.store.insert('progress_rows', row('progress_rows', progress))
  await rig.restart()
  await expect.poll(dayChange).toBeDefined()
  expect(Number(await dayChange())).toBe(60)
})

it('is zero once a day has begun without an update of the pair', async () => {
  await rig.feed(update({ seq: 2, number: 101, hash: '0xb101', time: DAY_S + 86_401, now: DAY_S + 86_401 }))
  expect(Number(await dayChange())).toBe(0)
})
