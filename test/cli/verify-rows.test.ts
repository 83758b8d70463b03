/** What `verify` finds: rows that were changed, lost or added, and pairs and tokens that earlier versions stored as text. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { verifyRows } from '../../services/cli/verify/compare.js'
import type { ComparedTable } from '../../services/cli/verify/compared-tables.js'
import type { VisitRow } from '../../services/cli/verify/refold.js'
import { ExpectedRows, hashOf } from '../../services/cli/verify/row-prints.js'
import { openStore } from '../../services/core/store/clickhouse-store.js'
import { readRows } from '../../services/core/store/row-binary.js'
import { binaryRows } from '../rig/binary-rows.js'
import { createRandom } from '../rig/market/random.js'
import { engineExpected } from '../rig/store-engine.js'
import {
  CHAIN,
  pairInfo,
  pairUpdate,
  storedColumns,
  storedText,
  tokenInfo,
  tokenUpdate,
  window,
} from '../serve/updates.js'

const directory = mkdtempSync(join(tmpdir(), 'dextape-verify-'))
const store = await openStore(
  engineExpected
    ? { kind: 'embedded', path: join(directory, 'store') }
    : { kind: 'server', url: new URL(`verify_${process.pid}`, process.env.CLICKHOUSE_URL).href },
)
beforeAll(() => store.migrate())
afterAll(async () => {
  await store.close()
  rmSync(directory, { recursive: true, force: true })
})

const VERSION = 2 ** 40 + 1
const unknown = Number.NaN
const windows = [15, 60, 240, 1440].map(() => window({ high: unknown, low: unknown, price_before: unknown }))
const pair = pairUpdate({
  ...{ info: pairInfo({ fee: null, creator: null, share_supply: null }), windows },
  ...{ price_usd: unknown, ath_usd: unknown, tvl: unknown, reserve0: null, init_reserve0: null },
})
const token = tokenUpdate({
  ...{ info: tokenInfo({ decimals: null, total_supply: null, launch_progress: unknown }), windows },
  ...{ price_usd: unknown, tvl: unknown, main_pair: null },
})

const columns = {
  pair_rows: { ...storedColumns(pair), decimals0: 6, volume_24h: unknown },
  token_rows: { ...storedColumns(token), main_price_usd: 1, main_open_usd: unknown },
}
/** Those that a row had beside its text. */
const BESIDE = {
  pair_rows: [
    ...['pair', 'amm', 'token0', 'token1', 'target', 'decimals0', 'decimals1', 'fee', 'creator', 'created_at'],
    ...['created_block', 'price_usd', 'price_native', 'price_quote', 'reserve0', 'reserve1', 'tvl', 'tx_count'],
    ...['last_trade_at', 'volume_24h', 'version'],
  ],
  token_rows: [
    ...['token', 'name', 'symbol', 'decimals', 'total_supply', 'price_usd', 'main_pair', 'tvl', 'holders'],
    ...['volume_24h', 'created_at', 'launch_platform', 'launch_stage', 'version'],
  ],
}
type StateTable = keyof typeof BESIDE
const TABLES: StateTable[] = ['pair_rows', 'token_rows']

function textOf(table: StateTable): Record<string, unknown> {
  const { candles: _c, trades: _t, liquidity: _l, ...state } = pair
  const prices = { main_price_usd: 1, main_open_usd: unknown }
  return JSON.parse(storedText(table === 'pair_rows' ? state : { ...token, ...prices }))
}

/** What a replay of the log makes of them today. */
const replayed = (table: StateTable, given: object) =>
  binaryRows(table, [{ ...columns[table], chain: CHAIN, version: VERSION, ...given }])

async function differences(given: object = {}): Promise<string[]> {
  return wrongRows(TABLES.map((table) => ({ table, rows: replayed(table, given) })))
}

async function wrongRows(inserts: readonly { table: ComparedTable; rows: Uint8Array }[]): Promise<string[]> {
  const again = async (visit: VisitRow) => {
    for (const { table, rows } of inserts) for (const row of readRows(table, rows)) visit(table, row)
  }
  const rows = new ExpectedRows()
  await again((table, row) => rows.of(table).add(row))
  const findings = await verifyRows(store, { chain: CHAIN, rows, again }, String(VERSION), () => {})
  return findings.flatMap(({ wrong }) => wrong)
}

it.each([
  ['with their windows in it', (text: object) => text, []],
  ['with a column of windows', ({ windows: _, ...text }: { windows?: unknown }) => text, ['windows']],
])('finds no difference in text %s, and one where a figure differs', async (_, inForm, more) => {
  for (const table of TABLES) {
    await store.command(`TRUNCATE TABLE ${table}`)
    await store.insertRows(table, replayed(table, { chain: 'today' }))
    const names = [...BESIDE[table], ...more].join(', ')
    await store.command(
      `INSERT INTO ${table} (chain, state, ${names}) SELECT {chain:String}, {text:String}, ${names} FROM ${table}`,
      { chain: CHAIN, text: JSON.stringify(inForm(textOf(table))) },
    )
  }
  expect(await differences()).toEqual([])
  expect(await differences({ updated_at: 5 })).toHaveLength(TABLES.length)
})

type Candle = { pair: string; interval: string; time: number; close_u: number; version: number; is_deleted: number }

const keyOf = ({ pair: address, interval, time }: Candle) => `${address} ${interval} ${time}`

it.each([1, 2, 3])('finds each candle that was changed, lost or added, and no other (seed %i)', async (seed) => {
  const random = createRandom(seed)
  const written: Candle[] = []
  const newest = new Map<string, Candle>()
  for (let version = VERSION - 2000; version <= VERSION; version += 1) {
    const candle: Candle = {
      ...{ pair: `0x${random.int(0, 9)}`, interval: random.pick(['k1', 'k5']), time: 60 * random.int(1, 40) },
      ...{ close_u: random.chance(0.1) ? unknown : random.next(), version, is_deleted: random.chance(0.1) ? 1 : 0 },
    }
    written.push(candle)
    newest.set(keyOf(candle), candle)
  }
  const stored: Candle[] = []
  const expected: string[] = []
  for (const [key, candle] of newest) {
    const fault = random.int(0, 20)
    if (candle.is_deleted === 1) {
      if (fault > 5) continue
      stored.push({ ...candle, is_deleted: 0 })
      expected.push(`${key}: stored, but not in the log`)
    } else if (fault === 0) expected.push(`${key}: in the log, but not stored`)
    else if (fault === 1) {
      stored.push({ ...candle, close_u: 7 })
      expected.push(`${key} close_u: stored 7, replayed ${Number.isNaN(candle.close_u) ? null : candle.close_u}`)
    } else if (fault === 2) {
      stored.push({ ...candle, version: candle.version - 1 })
      expected.push(`${key} version: stored ${candle.version - 1}, replayed ${candle.version}`)
    }
    // Replaced since the replay ended, by another row or by nothing.
    else if (fault === 3) stored.push(candle, { ...candle, close_u: 9, version: VERSION + 1 })
    else if (fault === 4) stored.push(candle, { ...candle, version: VERSION + 1, is_deleted: 1 })
    else stored.push(candle)
  }
  const added: Candle = { pair: '0xadded', interval: 'k1', time: 60, close_u: 1, version: VERSION, is_deleted: 0 }
  stored.push(added)
  expected.push(`${keyOf(added)}: stored, but not in the log`)

  for (const table of ['candle_rows', ...TABLES]) await store.command(`TRUNCATE TABLE ${table}`)
  const rowsOf = (candles: readonly Candle[]) =>
    binaryRows(
      'candle_rows',
      candles.map((candle) => ({ ...candle, chain: CHAIN })),
    )
  await store.insertRows('candle_rows', rowsOf(stored))
  const wrong = await wrongRows([{ table: 'candle_rows', rows: rowsOf(written) }])
  expect(wrong.sort()).toEqual(expected.sort())
})

it('gives each of 100,000 keys a hash of its own', () => {
  const seen = new Set<string>()
  const halves = [new Set<number>(), new Set<number>()]
  for (let n = 0; n < 100_000; n += 1) {
    const hash = hashOf(
      `0x00000000000000000000000000000000${(n % 100).toString(16)} k${n % 7} ${1_700_000_000 + 60 * n}`,
    )
    seen.add(String(hash))
    for (const [at, half] of halves.entries()) half.add(hash[at] as number)
  }
  expect(seen.size).toBe(100_000)
  // Of so many in 2^32, one or two share a half by chance.
  for (const half of halves) expect(half.size).toBeGreaterThan(99_980)
})
