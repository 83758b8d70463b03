/**
 * Exports of many generated trades from a running `up`, compared with the engine writing the same file itself. With a number of
 * million trades as argument (`node dist/test/bench/export.js 20`) it also times the queries of docs/sql.md. Formats may follow
 * (`20 parquet`), since the others take longer.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { repositoryRoot } from '../../schemas/avro.js'
import { openLocalStore } from '../../services/core/store/local-store.js'
import { type Store, USER_QUERY } from '../../services/core/store/port.js'
import {
  EXPORT_FORMAT_NAMES,
  EXPORT_FORMATS,
  EXPORT_SETTINGS,
  type ExportFormat,
} from '../../services/serve/export/export-formats.js'
import { startUp } from '../rig/up/process.js'
import { printTable } from './measure.js'

const KEY = 'dx_bench'
const CHAIN = 'eth'
const PAIRS = 2_000
const TRADES_PER_S = 50
const INSERT_ROWS = 250_000
const START_S = 1_767_225_600
/** The engine alone is one thread; an export adds two sockets and a reader. */
const LIMIT = 1.6
const GOAL_ROWS_PER_S = 200_000
const MAX_GROWTH_MB = 250
const TICKS_PER_S = 100
const MERGE_POLL_MS = 500
const MAX_CANDLES_MS = 100

const pairOf = (number: string) => `concat('0x', lower(hex(sipHash128(toUInt64(${number}), 7))), '00000000')`
const addressOf = (number: string) => `concat('0x', lower(hex(sipHash128(toUInt64(${number}), 9))), '11111111')`

export async function benchExport(
  millions = 1,
  withQueries = false,
  formats: readonly ExportFormat[] = EXPORT_FORMAT_NAMES,
): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-bench-export-'))
  const dataDir = join(folder, 'data')
  const config = { simulator: { history_h: 0 } }
  const up = startUp({ dataDir, config, env: { DEXTAPE_API_KEY: KEY }, args: ['--rate', '1'], asUser: true })
  const { rest } = await up.serving
  const store = await openLocalStore(dataDir)
  try {
    const rows = millions * 1_000_000
    const insertS = await seconds(() => fill(store, rows))
    console.log(`${rows.toLocaleString('en')} trades inserted in ${insertS.toFixed(0)} s`)
    const isKept = await compareExports(rest, store, folder, rows, up.pid, formats)
    if (withQueries) await timeQueries(rest, up.pid)
    const isQuick = await timeCandles(rest)
    return isKept && isQuick
  } finally {
    await store.close()
    await up.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function fill(store: Store, rows: number): Promise<void> {
  await store.command(
    `INSERT INTO pair_rows (chain, pair, amm, token0, token1, target, decimals0, decimals1, fee, created_at, created_block, last_trade_at, tx_count, price_usd, tvl, volume_24h, state, windows, version)
     SELECT '${CHAIN}', ${pairOf('number')}, 'uniswapv2', ${addressOf('number')}, ${addressOf('0')}, 0, 18, 6, 3000, ${START_S}, 1, ${START_S}, 1000, 1.5, 100000, 5000, '{}', [], 1 FROM numbers(${PAIRS})`,
  )
  for (let from = 0; from < rows; from += INSERT_ROWS) {
    await store.command(
      `INSERT INTO trade_rows SELECT '${CHAIN}', ${pairOf(`number % ${PAIRS}`)}, toDateTime(${START_S} + intDiv(number, ${TRADES_PER_S}), 'UTC'),
         1000000 + intDiv(number, 600), number % 600, number % 900, 0,
         concat('0x', lower(hex(sipHash128(number))), lower(hex(sipHash128(number, 1)))), concat(toString(1000000 + intDiv(number, 600)), '-', toString(number % 900)),
         intDiv(number, ${PAIRS}) + 1, number % 2, ${addressOf('number % 991')}, ${addressOf('number % 9973')}, ${addressOf('number % 9973')},
         concat(toString(cityHash64(number)), '00'), toString(cityHash64(number, 1)), concat(toString(cityHash64(number, 2)), '0000'), toString(cityHash64(number, 3)),
         1 + (cityHash64(number, 4) % 100000) / 100000, 0.0003, 0.0005, 3000.25, 1, (cityHash64(number, 5) % 1000000) / 100, 0.5, 0, 'median', 1099511627776 + intDiv(number, 600), 0
       FROM numbers(${from}, ${Math.min(INSERT_ROWS, rows - from)})`,
    )
  }
  await store.command(
    `INSERT INTO candle_rows (chain, pair, interval, time, open_u, first_u, high_u, low_u, close_u, volume_u, version)
     SELECT '${CHAIN}', ${pairOf('intDiv(number, 43200)')}, 'k1', toDateTime(${START_S} + (number % 43200) * 60, 'UTC'), 1.1, 1.2, 1.4, 1.05, 1.3, 1000.5, 1 FROM numbers(${43_200 * 20})`,
  )
}

type Cost = { wallS: number; cpuS: number }

async function compareExports(
  rest: string,
  store: Store,
  folder: string,
  rows: number,
  pid: number,
  formats: readonly ExportFormat[],
): Promise<boolean> {
  const select = `SELECT * FROM trades WHERE chain = '${CHAIN}'`
  const header = [
    '',
    'engine alone, rows/s',
    'rows/s',
    'rows per CPU-second',
    'MB',
    'CPU × engine alone',
    'server memory, MB: before, at most',
  ]
  const results = [header]
  let isKept = true
  await untilMerged(store)
  for (const format of formats) {
    const file = join(folder, format)
    // With the priority of an export: otherwise other load would slow down only that.
    const settings = { log_comment: USER_QUERY, max_threads: 1, ...EXPORT_SETTINGS }
    const statement = `${select} INTO OUTFILE '${file}' FORMAT ${EXPORT_FORMATS[format].engine}`
    const alone = await costOf(pid, () => store.read(statement, settings))
    const before = memoryMb(pid)
    let most = before
    const watch = setInterval(() => {
      most = Math.max(most, memoryMb(pid))
    }, 50)
    let bytes = 0
    const exported = await costOf(pid, async () => {
      const headers = { 'x-api-key': KEY, 'content-type': 'application/json' }
      const body = JSON.stringify({ view: 'trades', chains: [CHAIN], format })
      const answer = await fetch(`${rest}/v2/export`, { method: 'POST', headers, body })
      if (answer.body === null || !answer.ok) throw new Error(await answer.text())
      for await (const chunk of answer.body) bytes += (chunk as Uint8Array).length
    })
    clearInterval(watch)
    if (bytes < 0.8 * statSync(file).size) throw new Error(`${format}: the export is shorter than the engine's file`)
    rmSync(file)
    const ratio = exported.cpuS / alone.cpuS
    results.push([
      ...[
        format,
        counted(rows / alone.wallS),
        counted(rows / exported.wallS),
        counted(rows / exported.cpuS),
        (bytes / 1e6).toFixed(0),
      ],
      ...[ratio.toFixed(2), `${before.toFixed(0)}, ${most.toFixed(0)}`],
    ])
    if (format === 'parquet') isKept = ratio <= LIMIT && most - before <= MAX_GROWTH_MB
  }
  printTable(`Export of ${counted(rows)} trades from a running server`, results)
  const limits = `${LIMIT} × the CPU of the engine alone, ${MAX_GROWTH_MB} MB more memory`
  console.log(`  limits of Parquet: ${limits}${isKept ? '' : '  MISSED'}`)
  console.log(`  goal on two free cores: ${counted(GOAL_ROWS_PER_S)} rows/s`)
  return isKept
}

const counted = (count: number) => Math.round(count).toLocaleString('en')

/** CPU of all threads of the server, which depends little on other load on the machine. */
async function costOf(pid: number, work: () => Promise<unknown>): Promise<Cost> {
  const cpu = cpuSeconds(pid)
  const wallS = await seconds(work)
  return { wallS, cpuS: cpuSeconds(pid) - cpu }
}

/** Merges of what was inserted would count as work of the queries. */
async function untilMerged(store: Store): Promise<void> {
  for (;;) {
    const [{ n } = { n: '0' }] = await store.query<{ n: string }>(
      "SELECT count() AS n FROM system.merges WHERE table = 'trade_rows'",
    )
    if (Number(n) === 0) return
    await sleep(MERGE_POLL_MS)
  }
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S
}

async function timeQueries(rest: string, pid: number): Promise<void> {
  const page = readFileSync(join(repositoryRoot(), 'docs/sql.md'), 'utf8')
  const results = [['', 's', 'memory of the server, MB']]
  for (const [, title = '', query = ''] of page.matchAll(/^### (.+)\n+```sql\n([^`]+)```/gm)) {
    // The generated trades are not of today.
    const asked = query.replaceAll('now()', '(SELECT max(time) FROM trades)')
    const start = performance.now()
    const answer = await sql(rest, asked)
    const outcome = answer.ok ? '' : ` (${((await answer.json()) as { code: string }).code})`
    const tookS = (performance.now() - start) / 1000
    results.push([`${title}${outcome}`, tookS.toFixed(2), memoryMb(pid).toFixed(0)])
  }
  printTable('The queries of docs/sql.md', results)
}

async function timeCandles(rest: string): Promise<boolean> {
  const [pair] = (await rowsOf(
    rest,
    `SELECT pair FROM candles WHERE chain = '${CHAIN}' AND interval = 'k1' AND volume_usd = 1000.5 LIMIT 1`,
  )) as [{ pair: string }]
  const times: number[] = []
  for (let round = 0; round < 11; round += 1) {
    const where = `chain = '${CHAIN}' AND pair = '${pair.pair}' AND interval = 'k1'`
    const start = performance.now()
    const rows = await sql(
      rest,
      `SELECT time, open_usd, high_usd, low_usd, close_usd, volume_usd FROM candles WHERE ${where}`,
      'parquet',
    )
    await rows.arrayBuffer()
    times.push(performance.now() - start)
  }
  const [least = 0, , , , , median = 0] = times.sort((a, b) => a - b)
  const took = `median ${median.toFixed(0)} ms, least ${least.toFixed(0)} ms (limit ${MAX_CANDLES_MS})`
  console.log(`\nA month of one pair's minute candles (43,200): ${took}`)
  // Of the least: the others wait for whatever else the machine does.
  return least <= MAX_CANDLES_MS
}

function sql(rest: string, query: string, format = 'json'): Promise<Response> {
  const headers = { 'x-api-key': KEY, 'content-type': 'application/json' }
  return fetch(`${rest}/v2/sql`, { method: 'POST', headers, body: JSON.stringify({ query, format }) })
}

async function rowsOf(rest: string, query: string): Promise<unknown[]> {
  const answer = await sql(rest, query)
  if (!answer.ok) throw new Error(await answer.text())
  return ((await answer.json()) as { data: unknown[] }).data
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

function memoryMb(pid: number): number {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const millions = Number(process.argv[2] ?? 1)
  const named = EXPORT_FORMAT_NAMES.filter((name) => process.argv.slice(3).includes(name))
  const formats = named.length === 0 ? EXPORT_FORMAT_NAMES : named
  process.exitCode = (await benchExport(millions, process.argv[2] !== undefined, formats)) ? 0 : 1
}
