/** Files out of a running server: what is in them, which blocks they include, and what a failure leaves. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { hashKey } from '../../services/core/keys/key-store.js'
import type { Store } from '../../services/core/store/port.js'
import { startCommand } from '../rig/http/command.js'
import { runHere } from '../rig/http/command-here.js'
import { pythonTools, run } from '../rig/python/venv.js'
import { itWhenLong } from '../rig/suite/long-only.js'
import { playMarket } from '../serve/push/played-market.js'
import { KEY, keyRecord, openTestStore, type Rig, startRig } from '../serve/rig.js'

const CHAIN = 'eth'
const folder = mkdtempSync(join(tmpdir(), 'dextape-export-'))

let rig: Rig
let store: Store
let market: ReturnType<typeof playMarket>
/** What happens between the answers of the store. */
let streamOf: Store['stream']
let pairs: string[]

beforeAll(async () => {
  store = await openTestStore(folder)
  streamOf = store.stream
  rig = await startRig({
    store: { ...store, stream: (...args) => streamOf(...args) },
    flush: async () => market.flush(),
  })
  // Four days, of which two can still change at the end.
  const options = {
    retracts: { probability: 0.3, maxDepth: 6 },
    secondsPerBlock: 5400,
    swapsPerBlock: 8,
    quietHour: 0,
    quietDay: 0,
  }
  market = playMarket(rig, {
    seed: 8,
    chain: CHAIN,
    blocks: 160,
    options: { ...options, maxTimeBackS: 0 },
  })
  await market.play(99)
  await market.flush()
  rig.keys.set(hashKey('free'), keyRecord({ id: 'free', plan: 'free' }))
  await rig.start()
  // Which blocks are final is known from the next one on.
  await market.play(1)
  await market.flush()
  await served()
  const traded = await store.query<{ pair: string }>('SELECT DISTINCT pair FROM trades ORDER BY pair')
  pairs = traded.map(({ pair }) => pair)
}, 60_000)
afterAll(() => rig.stop())

async function served(): Promise<void> {
  await vi.waitFor(async () => {
    const { chains } = await rig.serve.status()
    if (chains[0]?.seq !== market.last.seq) throw new Error('still behind')
  }, 10_000)
}

const environment = () => ({
  ...{ DEXTAPE_DATA_DIR: join(folder, 'data'), DEXTAPE_API_KEY: KEY },
  DEXTAPE_HTTP_PORT: String(rig.ports.httpPort),
})

const dextape = (...args: string[]) => runHere(['export', ...args], { cwd: folder, env: environment() })

const ended = async (...args: string[]) => {
  const { code, err } = await dextape(...args)
  return { code, err }
}

type Swap = Record<string, string | null> & { tx_time: number }

async function restSwaps(): Promise<Swap[]> {
  const swaps: Swap[] = []
  for (const pair of pairs) {
    let cursor = ''
    for (;;) {
      const answer = await rig.get(`/v2/txs/swap/${pair}-${CHAIN}?limit=300&sort=desc${cursor}`)
      const { data } = (await answer.json()) as { data: { txs: Swap[]; next_cursor?: string } }
      swaps.push(...data.txs)
      if (data.next_cursor === undefined) break
      cursor = `&cursor=${data.next_cursor}`
    }
  }
  return swaps
}

const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort()

/** The digits of an amount, whatever its decimals are. */
const digitsOf = (amount: string) => amount.replace('.', '').replace(/^0+/, '').replace(/0+$/, '')

it('has a hash of all rows of a day that may change, unknown values or not', async () => {
  for (const view of ['trades', 'liquidity', 'candles']) {
    const answer = await rig.post('/v2/export/partitions', { view }, { 'x-api-key': KEY })
    const { partitions } = (await answer.json()) as { partitions: { date: string; rows: number; hash: string }[] }
    const open = partitions.filter(({ hash }) => hash !== '0')
    expect(open.length).toBeGreaterThan(0)
    for (const { date, hash } of open) {
      const day = `FROM ${view} WHERE toDate(time) = '${date}'`
      const [row] = await store.query<{ hash: string }>(`SELECT sum(cityHash64(tuple(*))) AS hash ${day}`)
      expect([view, hash]).toEqual([view, row?.hash])
    }
  }
})

describe('a file', () => {
  it('equals REST to the last digit in DuckDB and polars, as does a partitioned folder', async () => {
    const paths = { trades: 'trades.parquet', candles: 'candles.parquet', folder: 'days', arrow: 'trades.arrow' }
    expect(await ended('trades', '--out', paths.trades)).toMatchObject({ code: 0 })
    expect(await ended('trades', '--out', paths.arrow)).toMatchObject({ code: 0 })
    expect(await ended('trades', '--partition', '--out', paths.folder)).toMatchObject({ code: 0 })
    const [pair = ''] = pairs
    const id = `${pair}-${CHAIN}`
    expect(await ended('candles', '--pair', id, '--interval', 'k60', '--out', paths.candles)).toMatchObject({ code: 0 })
    const page = await rig.get(`/v2/txs/swap/${id}?format=parquet&limit=5`)
    writeFileSync(join(folder, 'page.parquet'), Buffer.from(await page.arrayBuffer()))
    const python = join(await pythonTools('clients'), 'python')
    const program = join(repositoryRoot(), 'test/cli/read_files.py')
    const plan = JSON.stringify({ ...paths, page: 'page.parquet' })
    const { code, out } = await run(python, [program, plan], { cwd: folder })
    expect(code, out).toBe(0)
    const { duckdb, polars } = JSON.parse(out) as Record<'duckdb' | 'polars', Record<string, unknown[][]>>

    const swaps = await restSwaps()
    expect(swaps.length).toBeGreaterThan(150)
    const expected = swaps.map((swap) => [
      ...[
        swap.chain,
        swap.pair_address,
        swap.id,
        swap.tx_hash,
        typeof swap.from_token_amount === 'string' ? digitsOf(swap.from_token_amount) : null,
      ],
      swap.amount_usd === null ? null : Number(swap.amount_usd),
    ])
    // REST has no amount of a token whose decimals are unknown.
    const unknown = new Set(swaps.flatMap((swap) => (swap.from_token_amount === null ? [swap.id] : [])))
    const digitsIn = ([, , id, , raw]: unknown[]) => (unknown.has(String(id)) ? null : digitsOf(String(raw)))
    const seen = (rows: unknown[][] = []) => sorted(rows.map((row) => row.with(4, digitsIn(row))))
    for (const rows of [duckdb.file, duckdb.folder, polars.file, polars.folder, polars.arrow])
      expect(seen(rows)).toEqual(sorted(expected))
    expect(duckdb.days).toEqual([[0]])
    expect(polars.times).toBe("Datetime(time_unit='ms', time_zone='UTC')")

    const klines = await rig.get(`/v2/klines/pair/${id}?interval=60&limit=1000`)
    const { data } = (await klines.json()) as { data: { points: (Record<string, string> & { time: number })[] } }
    const figures = ['open', 'high', 'low', 'close', 'volume']
    const points = data.points.map((point) => [point.time, pair, ...figures.map((name) => Number(point[name]))])
    expect(points.length).toBeGreaterThan(5)
    expect(sorted(duckdb.candles ?? [])).toEqual(sorted(points))

    const json = (await (await rig.get(`/v2/txs/swap/${id}?limit=5`)).json()) as { data: { txs: Swap[] } }
    const doubles = ['from_token_price_usd', 'to_token_price_usd', 'amount_usd', 'pair_liquidity_usd']
    const typed = json.data.txs.map(({ tx_time: _, ...swap }) =>
      Object.fromEntries(
        Object.entries(swap).map(([name, value]) => [
          name,
          doubles.includes(name) && value !== null ? Number(value) : value,
        ]),
      ),
    )
    expect(polars.page).toEqual(typed)
    expect(polars.page_times).toEqual(json.data.txs.map(({ tx_time }) => tx_time))
  })

  itWhenLong(
    'and its folder are one table for Spark, with chain and date',
    async () => {
      expect(await ended('trades', '--out', 'for-spark.jsonl')).toMatchObject({ code: 0 })
      expect(await ended('trades', '--partition', '--out', 'for-spark')).toMatchObject({ code: 0 })
      const python = join(await pythonTools('spark'), 'python')
      const program = join(repositoryRoot(), 'test/cli/read_folder_spark.py')
      const { code, out } = await run(python, [program, 'for-spark'], { cwd: folder })
      expect(code, out).toBe(0)
      const seen = JSON.parse(out.trim().split('\n').at(-1) ?? '') as { rows: unknown[][]; wrong_days: number }
      const lines = readFileSync(join(folder, 'for-spark.jsonl'), 'utf8').trim().split('\n')
      const expected = lines.map((line) => {
        const trade = JSON.parse(line) as Record<string, unknown>
        return [trade.chain, trade.pair, trade.id, trade.tx_hash, trade.amount_in_raw, trade.amount_usd]
      })
      expect(expected.length).toBeGreaterThan(150)
      expect(sorted(seen.rows)).toEqual(sorted(expected))
      expect(seen.wrong_days).toBe(0)
    },
    300_000,
  )

  it('has the rows that were asked for', async () => {
    const count = async (...args: string[]) => {
      const { code, out, err } = await dextape('trades', '--format', 'jsonl', ...args)
      expect(code, err).toBe(0)
      return out.split('\n').filter(Boolean).length
    }
    const all = await count()
    const [{ middle, finals } = { middle: 0, finals: 0 }] = await store.query<{ middle: number; finals: number }>(
      `SELECT toUInt32(toUnixTimestamp(median(time))) AS middle, toUInt32(countIf(block_number <= ${market.last.finalized_number})) AS finals FROM trades`,
    )
    const early = await count('--to', `@${middle}`)
    const late = await count('--from', `@${middle}`)
    expect([early > 0, late > 0, early + late]).toEqual([true, true, all])
    expect(await count('--finalized')).toBe(finals)
    expect(finals).toBeLessThan(all)
    const perPair = await Promise.all(pairs.slice(0, 1).map((pair) => count('--pair', `${pair}-${CHAIN}`)))
    expect(perPair[0]).toBe((await restSwaps()).filter(({ pair_address }) => pair_address === pairs[0]).length)
    expect(await count('--chain', 'eth')).toBe(all)
  })

  it('of final candles has those that REST has', async () => {
    const [pair = ''] = pairs
    const { out } = await dextape(
      ...['candles', '--pair', `${pair}-${CHAIN}`, '--interval', 'k60', '--finalized', '--format', 'jsonl'],
    )
    const rest = await rig.get(`/v2/klines/pair/${pair}-${CHAIN}?interval=60&limit=1000&finalized=true`)
    const { data } = (await rest.json()) as { data: { points: { time: number }[] } }
    const times = out
      .split('\n')
      .filter(Boolean)
      .map((line) => Date.parse(`${(JSON.parse(line) as { time: string }).time}Z`) / 1000)
    expect(times.sort()).toEqual(data.points.map(({ time }) => time))
  })

  it('has no cell that a spreadsheet would run, in CSV alone', async () => {
    const query = `SELECT '=1+1' AS a, '-5' AS b, '+x' AS c, '@x' AS d, '\\tx' AS e, 'x=1' AS f, -1.5 AS g, CAST(NULL, 'Nullable(String)') AS h`
    const csv = await dextape('--query', query, '--format', 'csv')
    expect(csv.out).toBe(`"a","b","c","d","e","f","g","h"\n"'=1+1","-5","'+x","'@x","'\tx","x=1",-1.5,\\N\n`)
    const json = await dextape('--query', query, '--format', 'jsonl')
    expect(JSON.parse(json.out)).toEqual({ a: '=1+1', b: '-5', c: '+x', d: '@x', e: '\tx', f: 'x=1', g: -1.5, h: null })
  })

  it.each([
    [['trades', '--from', 'soon'], 78, '--from is not valid'],
    [['trades', '--query', 'SELECT 1'], 78, 'name either a view'],
    [[], 78, 'name either a view'],
    [['trades', '--partition'], 78, '--partition needs --out'],
    [['--query', 'SELECT 1', '--partition', '--out', 'x'], 78, '--partition needs a view'],
    [['--query', 'SELECT 1', '--chain', 'eth'], 1, '`chains` narrows a view'],
    [['--query', 'SELECT * FROM trade_rows'], 1, 'the table trade_rows is not allowed'],
    [['tokens', '--from', '2024-01-01'], 1, 'The view tokens cannot be narrowed by `from_time`'],
    [['trades', '--chain', 'nope'], 1, 'Chain "nope" is not indexed'],
    [['trades', '--pair', 'x'], 1, 'malformed'],
    [['trades', '--from', '2024-02-01', '--to', '2024-01-01'], 1, 'is after'],
    [['trades', '--key', 'free'], 1, 'The plan free has no SQL'],
    [['trades', '--out', '/dev/null/x'], 78, 'Cannot write'],
    [['trades', '--url', 'http://127.0.0.1:1'], 1, 'Cannot connect'],
    [['sweets'], 64, 'sweets'],
  ])('is refused with the reason: %j', async (args, code, reason) => {
    expect(await ended(...args)).toEqual({ code, err: expect.stringContaining(reason) })
  })
})

describe('a page', () => {
  const swaps = () => `/v2/txs/swap/${pairs[0]}-${CHAIN}?limit=2&sort=desc`
  const accept = (type: string) => ({ 'x-api-key': KEY, accept: type })

  it('is CSV by parameter or Accept header, with the next cursor in a header', async () => {
    const json = (await (await rig.get(swaps())).json()) as { data: { next_cursor: string; txs: object[] } }
    const csv = await rig.get(`${swaps()}&format=csv`)
    const text = await csv.text()
    const lines = json.data.txs.map((item) => Object.values(item).map((value) => value ?? ''))
    expect(
      text
        .split('\n')
        .slice(1, 3)
        .map((line) => line.split(',').sort()),
    ).toEqual(lines.map((line) => line.map(String).sort()))
    expect([csv.headers.get('x-next-cursor'), csv.headers.get('x-cu-cost')]).toEqual([json.data.next_cursor, '50'])
    expect(await (await rig.get(swaps(), accept('text/csv'))).text()).toBe(text)
  })

  it.each([
    ['application/vnd.apache.parquet', 'PAR1'],
    ['application/vnd.apache.arrow.file', 'ARROW1'],
    ['application/json, text/csv', '{"status"'],
    ['text/html, */*', '{"status"'],
  ])('answers Accept: %s', async (type, start) => {
    const body = await (await rig.get(swaps(), accept(type))).text()
    expect(body.startsWith(start)).toBe(true)
  })

  it('without items is a file without rows', async () => {
    const none = await rig.get(`/v2/klines/pair/${pairs[0]}-${CHAIN}?interval=60&from_time=1&to_time=2&format=parquet`)
    expect([none.status, (await none.text()).startsWith('PAR1')]).toEqual([200, true])
    expect((await rig.get(`${swaps()}&format=xls`)).status).toBe(400)
  })
})

describe('what a failure leaves', () => {
  const left = () => readdirSync(folder).filter((name) => name.startsWith('half'))
  const broken = () =>
    Readable.from(
      (async function* () {
        yield Buffer.alloc(200_000)
        throw new Error('the store failed')
      })(),
    )

  it.each([['half.parquet'], ['half-folder', '--partition']])(
    'is nothing, in the middle of %s',
    async (out, ...more) => {
      const real = streamOf
      streamOf = async (sql, format, settings) =>
        format === 'Parquet' ? broken() : store.stream(sql, format, settings)
      try {
        const { code, err } = await ended('trades', '--out', out, ...more)
        expect([code, err]).toEqual([1, expect.stringContaining('ended the export before it was complete')])
        expect(left()).toEqual([])
      } finally {
        streamOf = real
      }
    },
  )

  it('is the file that was there before', async () => {
    const path = join(folder, 'half-old.csv')
    writeFileSync(path, 'old')
    const real = streamOf
    streamOf = async () => broken()
    try {
      expect((await ended('trades', '--out', path)).code).toBe(1)
    } finally {
      streamOf = real
    }
    expect(readFileSync(path, 'utf8')).toBe('old')
    expect((await ended('trades', '--out', path)).code).toBe(0)
    expect(readFileSync(path, 'utf8')).toMatch(/^"chain","pair"/)
  })

  it('is nothing after Ctrl-C', async () => {
    const real = streamOf
    const endless = new Readable({ read() {} })
    endless.push(Buffer.alloc(100))
    streamOf = async () => endless
    try {
      const { child, ended } = startCommand(['export', 'trades', '--out', 'half-stopped.csv'], {
        ...{ cwd: folder, env: environment() },
      })
      await vi.waitFor(() => expect(left().some((name) => name.includes('.unfinished-'))).toBe(true), 20_000)
      child.kill('SIGINT')
      const { code, err } = await ended
      expect([code, err]).toEqual([1, expect.stringContaining('Stopped by SIGINT; nothing was written')])
      expect(left().filter((name) => name.includes('stopped'))).toEqual([])
      // The server noticed, too: the next export gets its turn.
      await vi.waitFor(() => expect(endless.destroyed).toBe(true), 10_000)
    } finally {
      streamOf = real
    }
    expect((await ended('trades', '--out', 'after.csv')).code).toBe(0)
  })
})

describe('while blocks and reorgs happen', () => {
  const idsNow = async () =>
    (await store.query<{ id: string }>("SELECT concat(tx_hash, ' ', id) AS id FROM trades ORDER BY id")).map(
      ({ id }) => id,
    )

  /**
   * After each of the first `answers` has begun, plays until a reorg has removed trades. @returns what was stored after each block.
   */
  async function playOn(answers: number): Promise<string[][]> {
    const states = [await idsNow()]
    let left = answers
    streamOf = async (...args) => {
      const body = await store.stream(...args)
      left -= 1
      for (let isShorter = left < 0; !isShorter && market.remainingLines > 0; ) {
        await market.play(1)
        await market.flush()
        const now = await idsNow()
        isShorter = now.length < (states.at(-1)?.length ?? 0)
        states.push(now)
      }
      return body
    }
    return states
  }

  const idsIn = (text: string) =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { tx_hash: string; id: string })
      .map(({ tx_hash, id }) => `${tx_hash} ${id}`)
      .sort()

  itWhenLong('a file is the tape of one moment: no row twice, none lost', async () => {
    const states = await playOn(1)
    const { out } = await dextape('trades', '--format', 'jsonl')
    expect(states.length).toBeGreaterThan(1)
    expect(idsIn(out)).toEqual(states[0])
  })

  it('so is a folder, though its days are read one after another', async () => {
    const states = await playOn(3)
    expect(await ended('trades', '--partition', '--format', 'jsonl', '--out', 'moving')).toMatchObject({ code: 0 })
    streamOf = store.stream
    const files = readdirSync(join(folder, 'moving'), { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    )
    const text = files.map((file) => readFileSync(join(file.parentPath, file.name), 'utf8')).join('')
    expect(files.length).toBeGreaterThan(1)
    expect(states).toContainEqual(idsIn(text))
    expect(new Set(idsIn(text)).size).toBe(idsIn(text).length)
    expect(existsSync(join(folder, 'moving'))).toBe(true)
  })
})
