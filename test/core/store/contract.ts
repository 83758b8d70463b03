/** The contract of every store, whatever its engine. */
import { text as readText } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readMigrations } from '../../../services/core/store/migrations.js'
import type { ReadSettings, Store } from '../../../services/core/store/port.js'
import {
  type Cell,
  type ColumnType,
  columnTypes,
  RowWriter,
  readRows,
} from '../../../services/core/store/row-binary.js'
import { TABLES, type TableName } from '../../../services/core/store/tables.js'
import { line, lines } from './rows.js'
import { viewContract } from './views.js'

export type OpenedStore = {
  store: Store
  close: () => Promise<void>
}

/** An engine in another process that a test can stop and restart. */
export type RemoteStore = OpenedStore & { away: () => Promise<void>; back: () => Promise<void> }

const HUGE = (2n ** 256n - 1n).toString()

const SAMPLES: Record<ColumnType, Cell> = {
  ...{ String: `${'long '.repeat(60)}✓ 'x' \\ \n`, 'Nullable(String)': 'Ünï', Float64: 0.1, DateTime: 1_700_000_000 },
  ...{
    'Array(Float64)': Float64Array.of(0.5, -2),
    UInt8: 1,
    UInt32: 2 ** 32 - 1,
    UInt64: 2 ** 52 + 1,
    Int16: 18,
    Int64: -5,
  },
}
const UNKNOWN: Record<ColumnType, null> = {
  ...{ String: null, 'Nullable(String)': null, Float64: null, DateTime: null },
  ...{ 'Array(Float64)': null, UInt8: null, UInt32: null, UInt64: null, Int16: null, Int64: null },
}
const asJson = (cell: Cell) => (cell instanceof Float64Array ? [...cell] : cell)
const DEFAULTS: Record<ColumnType, unknown> = {
  'Array(Float64)': [],
  ...{ String: '', 'Nullable(String)': null, Float64: null, DateTime: 0 },
  ...{ UInt8: 0, UInt32: 0, UInt64: 0, Int16: -1, Int64: 0 },
}

const plainType = (type: string): string =>
  type.replace(/^LowCardinality\((.*)\)$/, '$1').replace(/^DateTime\(.*/, 'DateTime')

export function storeContract(name: string, open: () => Promise<OpenedStore>): void {
  contract(name, open, () => {})
}

export function remoteStoreContract(name: string, open: () => Promise<RemoteStore>): void {
  contract(name, open, awayContract)
}

function contract<T extends OpenedStore>(name: string, open: () => Promise<T>, more: (opened: () => T) => void): void {
  describe(`store: ${name}`, () => {
    let opened: T
    let store: Store
    beforeAll(async () => {
      opened = await open()
      store = opened.store
      await store.migrate()
    }, 60_000)
    afterAll(() => opened?.close())

    const volumes = (pair: string) =>
      store.query<{ v: number; version: string }>(
        'SELECT volume_u AS v, version FROM candle_rows FINAL WHERE pair = {pair:String} ORDER BY time',
        { pair },
      )

    it('runs no migration twice', async () => {
      expect(await store.migrate()).toEqual([])
    })

    it('repeats a migration that failed before it was recorded', async () => {
      const names = readMigrations().map(({ name }) => name)
      const created = () =>
        store.query(
          'SELECT name, create_table_query FROM system.tables WHERE database = currentDatabase() ORDER BY name',
        )
      const asNew = await created()
      await store.command('TRUNCATE TABLE migrations')
      expect(await store.migrate()).toEqual(names)
      // All statements give what those gave that a new store needs.
      expect(await created()).toEqual(asNew)
    })

    it.each(Object.keys(TABLES) as TableName[])(
      'takes rows of %s in binary as it takes them as text',
      async (table) => {
        const columns = await store.query<{ name: string; type: string }>(
          'SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = {table:String}',
          { table },
        )
        const typeOf = new Map(columns.map(({ name, type }) => [name, plainType(type)]))
        const types = columnTypes(table)
        expect(types).toEqual(TABLES[table].map((name) => typeOf.get(name)))

        const rows = (chain: string): Cell[][] =>
          [SAMPLES, UNKNOWN].map((cells, n) =>
            types.map((type, at) => (TABLES[table][at] === 'chain' ? `${chain}${n}` : cells[type])),
          )
        const text = rows('text').map((row) => JSON.stringify(row.map(asJson)))
        await store.insert(table, text.join('\n'))
        const writer = new RowWriter(table)
        for (const row of rows('byte')) writer.row(row)
        await store.insertRows(table, writer.finish())
        const stored = (chain: string) =>
          store.query(
            `SELECT * EXCEPT chain FROM ${table} WHERE startsWith(chain, {chain:String}) ORDER BY ${table}.chain`,
            { chain },
          )
        expect(await stored('byte')).toEqual(await stored('text'))
        expect(await stored('byte')).toHaveLength(2)
        expect([...readRows(table, writer.finish())].map((row) => row.slice(1))).toEqual(
          rows('byte').map((row) =>
            row.slice(1).map((cell, at) => asJson(cell) ?? DEFAULTS[types[at + 1] as ColumnType]),
          ),
        )
        await store.command(`TRUNCATE TABLE ${table}`)
      },
    )

    it('keeps the highest version, in any order of inserts', async () => {
      const row = (pair: string, version: number) => line('candle_rows', { pair, volume_u: version, version })
      for (const version of [1, 2]) await store.insert('candle_rows', row('up', version))
      for (const version of [2, 1]) await store.insert('candle_rows', row('down', version))
      expect(await volumes('up')).toEqual([{ v: 2, version: '2' }])
      expect(await volumes('down')).toEqual([{ v: 2, version: '2' }])
    })

    it('hides a tombstoned row until a later version arrives', async () => {
      const put = (version: number, is_deleted: number) =>
        store.insert('candle_rows', line('candle_rows', { pair: 'grave', volume_u: version, version, is_deleted }))
      await put(1, 0)
      await put(2, 1)
      expect(await volumes('grave')).toEqual([])
      await put(3, 0)
      expect(await volumes('grave')).toEqual([{ v: 3, version: '3' }])
    })

    it('returns rows to queries as soon as the insert resolves', async () => {
      for (let n = 1; n <= 20; n++) {
        await store.insert('candle_rows', line('candle_rows', { pair: 'mine', time: n * 60, version: n }))
        expect(await volumes('mine')).toHaveLength(n)
      }
    })

    it('keeps integers of any size and sign exact', async () => {
      const holders = ['0', '-1', `-${HUGE}`, HUGE, '9007199254740993']
      await store.insert(
        'holder_rows',
        lines(
          'holder_rows',
          holders.map((balance, n) => ({ token: 'big', holder: `h${n}`, balance, version: 2 ** 43 + n })),
        ),
      )
      const found = await store.query<{ balance: string; version: string }>(
        "SELECT balance, version FROM holder_rows FINAL WHERE token = 'big' ORDER BY holder",
      )
      expect(found).toEqual(holders.map((balance, n) => ({ balance, version: String(2 ** 43 + n) })))
      const [counts] = await store.query<object>(
        "SELECT toUInt64(18446744073709551615) AS u64, toInt256('-5') AS i256, toDecimal256('1.000000000000000001', 18) AS d",
      )
      expect(counts).toEqual({ u64: '18446744073709551615', i256: '-5', d: '1.000000000000000001' })
    })

    it('keeps unknown numbers apart from zero', async () => {
      const rows = [
        { pair: 'nan', time: 0, volume_u: 0 },
        { pair: 'nan', time: 60 },
      ]
      await store.insert('candle_rows', lines('candle_rows', rows))
      const found = await store.query(
        "SELECT volume_u AS raw, isNaN(volume_u) AS is_nan FROM candle_rows FINAL WHERE pair = 'nan' ORDER BY time",
      )
      expect(found).toEqual([
        { raw: 0, is_nan: 0 },
        { raw: null, is_nan: 1 },
      ])
    })

    it('accepts any string as a name, in rows and in parameters', async () => {
      const names = [
        "o'hara",
        'back\\slash',
        'tab\tline\nfeed\r',
        '🦄 ünï',
        '"double"',
        '{x:String}',
        "\\' OR 1=1 --",
        ';',
      ]
      await store.insert(
        'pair_rows',
        lines(
          'pair_rows',
          names.map((pair) => ({ chain: 'odd', pair })),
        ),
      )
      for (const pair of names)
        expect(
          await store.query("SELECT pair FROM pair_rows FINAL WHERE chain = 'odd' AND pair = {pair:String}", { pair }),
        ).toEqual([{ pair }])
      const all = await store.query<{ pair: string }>(
        "SELECT pair FROM pair_rows FINAL WHERE chain = 'odd' AND pair IN {names:Array(String)} AND {no:Nullable(String)} IS NULL",
        { names, no: null },
      )
      expect(all.map(({ pair }) => pair).sort()).toEqual([...names].sort())
    })

    it('takes a list of a thousand addresses as a parameter', async () => {
      const pairs = Array.from({ length: 1000 }, (_, at) => `0x${at.toString(16).padStart(40, '0')}`)
      const [row] = await store.query<{ found: string }>('SELECT length({pairs:Array(String)}) AS found', { pairs })
      expect(Number(row?.found)).toBe(1000)
    })

    it('stores a batch spread over many years', async () => {
      const rows = Array.from({ length: 240 }, (_, n) => ({ pair: 'years', time: n * 2_700_000 }))
      await store.insert('candle_rows', lines('candle_rows', rows))
      expect(await volumes('years')).toHaveLength(240)
    })

    it('limits a query in time, rows and memory, each with its own error code', async () => {
      const slow = 'SELECT sum(cityHash64(number)) AS s FROM numbers(1000000000000)'
      await expect(store.query(slow, {}, { maxSeconds: 1 })).rejects.toMatchObject({ code: 'query_timeout' })
      await expect(store.query('SELECT number FROM numbers(101)', {}, { maxRows: 100 })).rejects.toMatchObject({
        code: 'query_too_large',
      })
      const wide = 'SELECT length(groupArray(number)) AS n FROM numbers(100000000)'
      await expect(store.query(wide, {}, { maxBytes: 50_000_000 })).rejects.toMatchObject({ code: 'query_memory' })
      expect(await store.query('SELECT count() AS n FROM numbers(1000)')).toEqual([{ n: '1000' }])
      expect(await store.query('SELECT number FROM numbers(101)')).toHaveLength(101)
    }, 30_000)

    it('reads an answer as the engine writes it, under settings that end with it', async () => {
      const text = async (sql: string, settings: ReadSettings) =>
        Buffer.from(await store.read(sql, settings)).toString()
      const settings = { max_execution_time: 5, max_result_rows: 3, result_overflow_mode: 'throw', readonly: 1 }
      expect(await text("SELECT 1 AS a, 'x' AS b FORMAT CSVWithNames", settings)).toBe('"a","b"\n1,"x"\n')
      expect(await text('SELECT count() FROM trades FORMAT JSONCompactEachRow', settings)).toMatch(/^\["?\d+"?\]\n$/)
      await expect(store.read('SELECT number FROM numbers(4)', { ...settings, readonly: 0 })).rejects.toMatchObject({
        code: 'query_too_large',
      })
      await expect(store.read('CREATE TABLE x (a Int8) ENGINE = Memory', settings)).rejects.toMatchObject({
        ...{ code: 'query_failed', cause: expect.objectContaining({ code: '164' }) },
      })
      await store.insert('candle_rows', line('candle_rows', { pair: 'after a read', volume_u: 1 }))
      expect(await store.query('SELECT number FROM numbers(4)')).toHaveLength(4)
    })

    it('streams an answer, and fails where the query fails, even after the first byte', async () => {
      const settings = { max_threads: 1, max_block_size: 1_000 }
      const body = await store.stream('SELECT number FROM numbers(300000)', 'CSV', settings)
      expect((await readText(body)).split('\n')).toHaveLength(300_001)
      expect(await readText(await store.stream('SELECT 1 WHERE 0', 'CSV', settings))).toBe('')
      await expect(store.stream('SELECT nothing', 'CSV', settings)).rejects.toMatchObject({ code: 'query_failed' })
      const late = "SELECT number, throwIf(number = 2900000, 'late') FROM numbers(3000000)"
      await expect(store.stream(late, 'CSV', settings).then(readText)).rejects.toThrow()
    })

    // A server sends an answer once it is complete: this one would fill its memory first.
    if (name !== 'server')
      it('ends the query of a stream that nobody reads any more', async () => {
        const body = await store.stream("SELECT 'left alone', number FROM numbers(10000000000)", 'CSV', {
          max_threads: 1,
        })
        body.destroy()
        const running = () =>
          store.query(
            "SELECT 1 FROM system.processes WHERE query LIKE '%''left alone%' AND query NOT LIKE '%system.processes%'",
          )
        await vi.waitFor(async () => expect(await running()).toEqual([]), 20_000)
      })

    it('reports only the kind of error of a rejected query', async () => {
      const failed = await store.query("SELECT 'secret' FROM nowhere").catch((error: unknown) => error)
      expect(failed).toMatchObject({ code: 'query_failed', retry: false })
      expect(String(failed)).toContain('UNKNOWN_TABLE')
      expect(String(failed)).not.toContain('secret')
      await expect(store.insert('candle_rows', '["too","few"]')).rejects.toMatchObject({ code: 'query_failed' })
    })

    it('inserts and queries in parallel', async () => {
      const batch = (n: number) =>
        lines(
          'holder_rows',
          Array.from({ length: 500 }, (_, h) => ({ token: 'par', holder: `${n}-${h}`, balance: `${n}` })),
        )
      const inserts = Array.from({ length: 8 }, (_, n) => store.insert('holder_rows', batch(n)))
      const queries = Array.from({ length: 24 }, (_, n) => store.query('SELECT {n:UInt32} AS n', { n }))
      expect((await Promise.all(queries)).flat()).toEqual(Array.from({ length: 24 }, (_, n) => ({ n })))
      await Promise.all(inserts)
      const found = await store.query("SELECT count() AS n FROM holder_rows FINAL WHERE token = 'par'")
      expect(found).toEqual([{ n: '4000' }])
    }, 30_000)

    more(() => opened)
    viewContract(() => store)
  })
}

function awayContract(opened: () => RemoteStore): void {
  it('holds an insert while the engine is unreachable, and stores it once', async () => {
    const { store, away, back } = opened()
    await away()
    await expect(store.query('SELECT 1 AS one')).rejects.toMatchObject({ code: 'store_away', retry: true })
    const waiting = store.insert('candle_rows', line('candle_rows', { pair: 'late', volume_u: 7 }))
    await back()
    await waiting
    const found = await store.query("SELECT volume_u AS v FROM candle_rows FINAL WHERE pair = 'late'")
    expect(found).toEqual([{ v: 7 }])
  }, 30_000)
}
