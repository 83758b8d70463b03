import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../services/core/store/clickhouse-store.js'
import type { Store } from '../../services/core/store/port.js'
import { type ClickHouse, startClickHouse } from '../rig/clickhouse/server.js'

let server: ClickHouse
let store: Store

beforeAll(async () => {
  server = await startClickHouse()
  store = await openStore({ kind: 'server', url: server.url })
  await store.migrate()
})
afterAll(async () => {
  await store.close()
  await server.stop()
})

const insert = (token: string, holder: string) =>
  store.insert('holder_rows', JSON.stringify(['eth', token, holder, '5', 1_760_000_000, 1, 0]))

async function holdersOf(token: string): Promise<string[]> {
  const sql = 'SELECT holder FROM holder_rows FINAL WHERE token = {token:String} ORDER BY holder'
  return (await store.query<{ holder: string }>(sql, { token })).map(({ holder }) => holder)
}

test('keeps inserted rows after kill -9 and a restart at the same address', async () => {
  await insert('kept', 'alice')
  const { url } = server
  await server.kill()
  await expect(store.query('SELECT 1')).rejects.toMatchObject({ code: 'store_away' })
  await server.restart()
  expect(server.url).toBe(url)
  expect(await holdersOf('kept')).toEqual(['alice'])
  expect(await store.migrate()).toEqual([])
})

test('inserts interrupted by a kill arrive once it is back', async () => {
  const holders = Array.from({ length: 40 }, (_, at) => `h${String(at).padStart(2, '0')}`)
  const all = Promise.all(holders.map((holder) => insert('met', holder)))
  while ((await holdersOf('met')).length === 0);
  await server.restart()
  await all
  expect(await holdersOf('met')).toEqual(holders)
})

test('does not answer while paused, until it is resumed', async () => {
  await server.pause()
  const answer = holdersOf('kept')
  const stalled = fetch(new URL('/ping', server.url), { signal: AbortSignal.timeout(500) })
  await expect(stalled).rejects.toThrow('timeout')
  await server.resume()
  expect(await answer).toEqual(['alice'])
})

test('runs two servers at once with separate data', async () => {
  const other = await startClickHouse()
  const elsewhere = await openStore({ kind: 'server', url: other.url })
  await elsewhere.migrate()
  expect(await elsewhere.query('SELECT * FROM holder_rows')).toEqual([])
  await elsewhere.close()
  await other.stop()
})
