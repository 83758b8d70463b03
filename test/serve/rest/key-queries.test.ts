/** History queries of a key at once: one that waits for the store keeps its place until it is answered. */

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hashKey } from '../../../services/core/keys/key-store.js'
import type { Store } from '../../../services/core/store/port.js'
import { keyRecord, openTestStore, type Rig, startRig } from '../rig.js'
import { firstUpdate, OTHER_PAIR, PAIR, TOKEN, update } from '../updates.js'

let rig: Rig
/** Queries wait here until they are let through. */
let gate = Promise.resolve()

beforeAll(async () => {
  const store = await openTestStore(mkdtempSync(join(tmpdir(), 'dextape-queries-')))
  const query: Store['query'] = async (...args) => {
    await gate
    return store.query(...args)
  }
  rig = await startRig({ store: { ...store, query }, hotHistoryBytes: 0, answerBytes: 0 })
  for (const plan of ['free', 'pro'] as const)
    rig.keys.set(hashKey(plan), keyRecord({ id: plan, plan, ratePerS: null }))
  await rig.append(firstUpdate())
  await rig.start()
  await rig.feed(update({ seq: 2 }))
}, 60_000)
afterAll(() => rig.stop())

const swaps = (pair: string, key: string) => rig.get(`/v2/txs/swap/${pair}-eth`, { 'x-api-key': key })

it('are limited by plan; other keys and answers from memory are not affected', async () => {
  let open = () => {}
  gate = new Promise((resolve) => {
    open = resolve
  })
  const waiting = [swaps(PAIR, 'free'), swaps(OTHER_PAIR, 'free')]
  await expect.poll(async () => (await rig.serve.status()).budgets.in_use.history_queries).toBe(2)
  // An identical request waits for the same answer.
  waiting.push(swaps(PAIR, 'free'))
  const refused = await rig.get(`/v2/txs/liq/${PAIR}-eth`, { 'x-api-key': 'free' })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  expect(await refused.json()).toMatchObject({
    ...{ code: 'too_many_queries', budget: 'history_queries', limit: 2, plan: 'free' },
    detail:
      'Too many history queries at once: plan free allows 2 per key. Wait for an answer first, or use a key with a larger plan.',
  })
  expect((await rig.get(`/v2/tokens/${TOKEN}-eth`, { 'x-api-key': 'free' })).status).toBe(200)
  waiting.push(rig.get(`/v2/txs/liq/${PAIR}-eth`, { 'x-api-key': 'pro' }))
  open()
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect((await swaps(PAIR, 'free')).status).toBe(200)
  expect((await rig.serve.status()).budgets.in_use.history_queries).toBe(0)
})
