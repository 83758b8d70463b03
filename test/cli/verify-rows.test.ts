/** `verify` of pairs and tokens that earlier versions stored as text. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { verifyRows } from '../../services/cli/verify/compare.js'
import { openStore } from '../../services/core/store/clickhouse-store.js'
import { binaryRows } from '../rig/binary-rows.js'
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
  const rows = TABLES.map((table) => ({ table, rows: replayed(table, given) }))
  const expected = { chain: CHAIN, epoch: 1, seq: 1, rows, updates: new Map<number, string>() }
  return (await verifyRows(store, expected, String(VERSION), () => {})).flatMap(({ wrong }) => wrong)
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
