/** The doors to SQL: which key may enter, what an answer looks like, and what it includes. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PLANS } from '../../../services/core/domain/plans.js'
import { hashKey } from '../../../services/core/keys/key-store.js'
import type { Store } from '../../../services/core/store/port.js'
import { SQL_VIEWS } from '../../../services/serve/sql/views.js'
import { KEY, keyRecord, openTestStore, type Rig, row, startRig } from '../rig.js'
import { CHAIN, firstUpdate, update } from '../updates.js'

let rig: Rig
let store: Store
/** User queries wait here until they are let through. */
let gate = Promise.resolve()
const flushed: string[] = []

const storeUpTo = (seq: number) =>
  store.insert(
    'progress_rows',
    row('progress_rows', { chain: CHAIN, epoch: 1, seq, number: 1, hash: '0x', now: 1, version: seq }),
  )

beforeAll(async () => {
  store = await openTestStore(mkdtempSync(join(tmpdir(), 'dextape-sql-routes-')))
  const read: Store['read'] = async (...args) => {
    await gate
    return store.read(...args)
  }
  rig = await startRig({
    store: { ...store, read },
    flush: async (chain) => {
      flushed.push(chain)
      await storeUpTo(2)
    },
  })
  rig.config.plans = { ...PLANS, basic: { ...PLANS.basic, sqlQueries: 1, sqlRows: 3, sqlSeconds: 1 } }
  for (const plan of ['free', 'basic', 'pro'] as const)
    rig.keys.set(hashKey(plan), keyRecord({ id: plan, plan, ratePerS: null }))
  await rig.restart()
}, 60_000)
afterAll(() => rig.stop())

const ask = (query: string, more: object = {}, headers: Record<string, string> = {}) =>
  rig.post('/v2/sql', { query, ...more }, { 'x-api-key': KEY, ...headers })

const problemOf = async (answer: Promise<Response>) => {
  const response = await answer
  const { code, detail } = (await response.json()) as { code: string; detail: string }
  return { status: response.status, code, detail }
}

describe('a key', () => {
  it('is needed', async () => {
    expect(await problemOf(ask('SELECT 1', {}, { 'x-api-key': '' }))).toMatchObject({
      status: 401,
      code: 'key_missing',
    })
    expect((await rig.get('/v2/sql/schema', {})).status).toBe(401)
  })

  it.each(['/v2/sql', '/v2/sql/schema'])('of a plan without SQL is refused: %s', async (path) => {
    const headers = { 'x-api-key': 'free' }
    const answer = path === '/v2/sql' ? ask('SELECT 1', {}, headers) : rig.get(path, headers)
    expect(await problemOf(answer)).toEqual({
      ...{ status: 403, code: 'sql_not_in_plan' },
      detail: 'The plan free has no SQL. Use a key of a plan that has, such as pro or unlimited.',
    })
  })

  it('runs no more queries at once than its plan allows', async () => {
    let open = () => {}
    gate = new Promise((resolve) => {
      open = resolve
    })
    const first = ask('SELECT 1', {}, { 'x-api-key': 'basic' })
    const second = ask('SELECT 2', {}, { 'x-api-key': 'basic' })
    const refused = await Promise.race([first, second])
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({
      code: 'too_many_queries',
      budget: 'sql_queries',
      limit: 1,
      plan: 'basic',
    })
    const other = ask('SELECT 3', {}, { 'x-api-key': 'pro' })
    open()
    expect((await Promise.all([first, second, other])).map(({ status }) => status).sort()).toEqual([200, 200, 429])
  })

  it('gets no more rows and no more time than its plan allows', async () => {
    const headers = { 'x-api-key': 'basic' }
    const rows = (count: number) => `SELECT n FROM (SELECT arrayJoin(range(${count})) AS n)`
    expect((await ask(rows(3), {}, headers)).status).toBe(200)
    expect(await problemOf(ask(rows(4), {}, headers))).toMatchObject({ status: 400, code: 'query_too_large' })
    const endless = `SELECT count() FROM (${rows(100_000)}) AS x, (${rows(100_000)}) AS y WHERE x.n * y.n % 7 = 3`
    expect(await problemOf(ask(endless, {}, headers))).toMatchObject({ status: 400, code: 'query_timeout' })
  })
})

describe('an answer', () => {
  it.each([
    ['json', 'application/json; charset=utf-8', /^\{\s*"meta"/],
    ['csv', 'text/csv; charset=utf-8; header=present', /^"a","b"\n1,"x"\n$/],
    ['parquet', 'application/vnd.apache.parquet', /^PAR1/],
    ['arrow', 'application/vnd.apache.arrow.file', /^ARROW1/],
    ['pretty', 'text/plain; charset=utf-8', /^┌─a─┬─b─┐\n│ 1 │ x │\n└───┴───┘\n$/],
  ])('as %s', async (format, type, start) => {
    const answer = await ask("SELECT 1 AS a, 'x' AS b", { format })
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('x-cu-cost')]).toEqual([
      200,
      type,
      '50',
    ])
    expect(await answer.text()).toMatch(start)
  })

  it('lists the views and their columns', async () => {
    const namesOf = async (query: string) => {
      const { data } = (await (await ask(query)).json()) as { data: { name: string }[] }
      return data.map(({ name }) => name)
    }
    expect(await namesOf('SHOW TABLES;')).toEqual(Object.keys(SQL_VIEWS).sort())
    const columns = (await store.query<{ name: string }>('DESCRIBE TABLE trades')).map(({ name }) => name)
    expect(await namesOf('describe trades')).toEqual(columns)
    expect(await problemOf(ask('SHOW CREATE TABLE trades'))).toMatchObject({ status: 400, code: 'sql_refused' })
  })

  it('keeps integers exact in JSON, and is wrapped on demand', async () => {
    const query = 'SELECT 9007199254740993 AS exact, 0.1 AS double'
    const plain = {
      meta: [
        { name: 'exact', type: 'UInt64' },
        { name: 'double', type: 'Float64' },
      ],
      data: [{ exact: '9007199254740993', double: 0.1 }],
      rows: 1,
    }
    expect(await (await ask(query)).json()).toEqual(plain)
    expect(await (await ask(query, {}, { 'x-envelope': 'always' })).json()).toMatchObject({ status: 1, data: plain })
  })

  it.each([
    [{ query: 'SELECT 1', format: 'xml' }, 'body_invalid'],
    [{}, 'body_invalid'],
    [{ query: 'SELECT 1 FORMAT CSV' }, 'sql_format'],
    [{ query: 'SELECT (' }, 'sql_invalid'],
    [{ query: 'SELECT * FROM trade_rows' }, 'sql_refused'],
  ])('is a problem for %j', async (body, code) => {
    expect(await problemOf(rig.post('/v2/sql', body))).toMatchObject({ status: 400, code })
  })
})

describe('a client of ClickHouse', () => {
  it('reads with the key as password, and is told why it may not', async () => {
    const { port } = new URL((await rig.get('/health')).url)
    const client = createClient({
      url: `http://127.0.0.1:${port}`,
      pathname: '/clickhouse',
      username: 'any',
      password: 'pro',
    })
    try {
      expect((await client.ping({ select: true })).success).toBe(true)
      const result = await client.query({
        ...{ query: 'SELECT {n:UInt8} + 1 AS n, {text:String} AS text', format: 'JSONEachRow' },
        query_params: { n: 41, text: "it's\n" },
      })
      expect(await result.json()).toEqual([{ n: 42, text: "it's\n" }])
      const tables = await client.query({
        query: 'SELECT name FROM system.tables ORDER BY name LIMIT 2',
        format: 'JSONEachRow',
      })
      expect(await tables.json()).toEqual([{ name: 'candles' }, { name: 'holder_counts' }])
      await expect(client.query({ query: 'SELECT * FROM system.users' })).rejects.toMatchObject({
        ...{ code: '497', message: expect.stringContaining('the table system.users is not allowed') },
      })
      await expect(client.command({ query: 'DROP TABLE trade_rows' })).rejects.toMatchObject({ code: '497' })
      await expect(client.insert({ table: 'trade_rows', values: [{ pair: 'x' }] })).rejects.toMatchObject({
        code: '497',
      })
    } finally {
      await client.close()
    }
  })

  it.each([
    ['?password=pro', {}, 200],
    ['', { 'x-clickhouse-key': 'pro' }, 200],
    ['', { authorization: `Basic ${Buffer.from('u:pro').toString('base64')}` }, 200],
    ['', { authorization: `Basic ${Buffer.from('u:wrong').toString('base64')}` }, 401],
    ['?password=free', {}, 403],
    ['', {}, 401],
  ])('enters with %s %j: %d', async (place, headers, status) => {
    const query = `${place === '' ? '?' : `${place}&`}query=SELECT%201`
    const answer = await rig.get(`/clickhouse/${query}`, headers as Record<string, string>)
    expect(answer.status).toBe(status)
    expect(await answer.text()).toMatch(status === 200 ? /^1\n$/ : /^Code: (516|497)\. DB::Exception: /)
  })
})

describe('the blocks of an answer', () => {
  it('are those applied when it began: rows that wait for their batch are stored first', async () => {
    await rig.feed(firstUpdate(), update({ seq: 2 }))
    const answer = await ask('SELECT 1')
    expect([answer.headers.get('x-as-of'), flushed]).toEqual(['eth=2', ['eth']])
    expect((await ask('SELECT 1')).headers.get('x-as-of')).toBe('eth=2')
    expect(flushed).toEqual(['eth'])
  })

  it('are fewer if the store cannot follow within two seconds, and the answer says so', async () => {
    await rig.feed(update({ seq: 3 }))
    const answer = await ask('SELECT 1')
    expect([answer.status, answer.headers.get('x-as-of')]).toEqual([200, 'eth=2'])
  })
})
