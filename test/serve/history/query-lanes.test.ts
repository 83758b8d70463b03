import { expect, it } from 'vitest'
import { createLane, createQueryLanes } from '../../../services/serve/history/query-lanes.js'

/** A store whose queries wait until they are let through. */
function heldStore() {
  const held: { sql: string; answer: () => void }[] = []
  const query = <Row>(sql: string) => new Promise<Row[]>((resolve) => held.push({ sql, answer: () => resolve([]) }))
  return { held, query, running: () => held.map(({ sql }) => sql) }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

it('runs cheap queries while dear ones wait for each other', async () => {
  const store = heldStore()
  const { cheap, dear } = createQueryLanes(store)
  const all = ['dear 1', 'dear 2'].map((sql) => dear.query(sql))
  all.push(...['cheap 1', 'cheap 2', 'cheap 3'].map((sql) => cheap.query(sql)))
  await settled()
  expect(store.running()).toEqual(['dear 1', 'cheap 1', 'cheap 2'])
  store.held[1]?.answer()
  await settled()
  expect(store.running().slice(3)).toEqual(['cheap 3'])
  store.held[0]?.answer()
  await settled()
  expect(store.running().slice(4)).toEqual(['dear 2'])
  for (const { answer } of store.held) answer()
  await Promise.all(all)
})

it('refuses a query when too many are waiting, and goes on after failures', async () => {
  const store = heldStore()
  const lane = createLane(store, { atOnce: 1, mostWaiting: 1 })
  const first = lane.query('1')
  const second = lane.query('2')
  await expect(lane.query('3')).rejects.toMatchObject({ code: 'store_busy', retry: true })
  store.held[0]?.answer()
  await first
  await settled()
  store.held[1]?.answer()
  await second
  let failures = 0
  const failing = createLane({ query: () => Promise.reject(new Error('away')) }, { atOnce: 1, mostWaiting: 9 })
  for (const sql of ['1', '2', '3']) await failing.query(sql).catch(() => (failures += 1))
  expect(failures).toBe(3)
})
