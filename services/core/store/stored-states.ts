/** Pairs and tokens as their rows have them. Earlier versions wrote what is now in columns as JSON text, in `state`. */
import { type PackedWindows, packWindows, type Window } from '../domain/packed-windows.js'
import type { PairInfo, PairUpdate, TokenInfo, TokenUpdate } from '../domain/records.js'
import { PAIR_FIGURES, TOKEN_FIGURES } from '../domain/state-figures.js'
import { type Cell, type ReadCell, RowWriter, readExpression, readRows } from './row-binary.js'
import { TABLES } from './tables.js'

/** A row as JSON has it: null for NaN, text for large integers. */
export type StoredState = Record<string, unknown> & { state: string; windows: (number | null)[]; version: string }

export type StoredPair = Omit<PairUpdate, 'info' | 'candles' | 'trades' | 'liquidity'> & { info: PairInfo }
export type StoredToken = Omit<TokenUpdate, 'info'> & { info: TokenInfo }

const NOT_READ = new Set(['chain', 'volume_24h'])

/** What a query has to select. */
export const STATE_COLUMNS = { pair_rows: columnsOf('pair_rows'), token_rows: columnsOf('token_rows') }

function columnsOf(table: 'pair_rows' | 'token_rows'): string {
  const names: readonly string[] = TABLES[table]
  const read = names.filter((name) => !NOT_READ.has(name))
  return [...read.map((name) => `${readExpression(name)} AS ${name}`), 'state'].join(', ')
}

/** Undefined for a tombstone. */
export function pairOfRow(row: StoredState): StoredPair | undefined {
  if (row.is_deleted === 1) return undefined
  if (row.state !== '') {
    const pair = parseState<PairUpdate>(row)
    return pair.info === null ? undefined : { ...pair, info: pair.info }
  }
  return {
    pair: String(row.pair),
    info: {
      amm: String(row.amm),
      token0: String(row.token0),
      token1: String(row.token1),
      target: Number(row.target),
      fee: numberOrNull(row.fee),
      creator: textOrNull(row.creator),
      created_at: Number(row.created_at),
      created_block: Number(row.created_block),
      share_supply: textOrNull(row.share_supply),
    },
    ...figuresOf(row, PAIR_FIGURES),
    reserve0: textOrNull(row.reserve0),
    reserve1: textOrNull(row.reserve1),
    init_reserve0: textOrNull(row.init_reserve0),
    init_reserve1: textOrNull(row.init_reserve1),
    windows: windowsOf(row),
  }
}

/** Undefined for a tombstone. */
export function tokenOfRow(row: StoredState): StoredToken | undefined {
  if (row.is_deleted === 1) return undefined
  if (row.state !== '') {
    const token = parseState<TokenUpdate>(row)
    return token.info === null ? undefined : { ...token, info: token.info }
  }
  const decimals = Number(row.decimals)
  return {
    token: String(row.token),
    info: {
      name: nullable(row.name),
      symbol: nullable(row.symbol),
      decimals: decimals < 0 ? null : decimals,
      total_supply: textOrNull(row.total_supply),
      owner: nullable(row.owner),
      risk: nullable(row.risk),
      logo_url: nullable(row.logo_url),
      links: nullable(row.links),
      created_at: Number(row.created_at),
      launch_platform: textOrNull(row.launch_platform),
      launch_stage: textOrNull(row.launch_stage),
      launch_progress: numberOf(row.launch_progress),
      launch_pool: textOrNull(row.launch_pool),
      launch_at: Number(row.launch_at),
      burnt_supply: textOrNull(row.burnt_supply),
      launch_price: numberOrNull(row.launch_price),
      holders_since: numberOrNull(row.holders_since),
    },
    ...figuresOf(row, TOKEN_FIGURES),
    main_pair: textOrNull(row.main_pair),
    windows: windowsOf(row),
  }
}

function figuresOf<Name extends string>(row: StoredState, names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, numberOf(row[name])])) as Record<Name, number>
}

const numberOf = (value: unknown): number => (value === null ? Number.NaN : Number(value))
const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value))
const textOrNull = (value: unknown): string | null => (value === '' ? null : String(value))
const nullable = (value: unknown): string | null => (value === null ? null : String(value))

const windowsOf = ({ windows }: StoredState): PackedWindows =>
  Float64Array.from(windows, (figure) => figure ?? Number.NaN)

/** Windows came into columns before the rest did. */
function parseState<Entry extends { windows: PackedWindows }>(row: StoredState): Entry {
  type Written = Omit<Entry, 'windows'> & { windows?: Window[] }
  const { windows, ...entry } = JSON.parse(row.state, unknownAsNaN) as Written
  const packed = row.windows.length > 0 ? windowsOf(row) : packWindows(windows ?? [])
  return { ...entry, windows: packed } as unknown as Entry
}

/** The cells of a row of an earlier version, as `readRows` has those of one that is written now; undefined for a tombstone. */
export function writtenNow(table: 'pair_rows' | 'token_rows', row: StoredState): ReadCell[] | undefined {
  const entry = table === 'pair_rows' ? pairOfRow(row) : tokenOfRow(row)
  if (entry === undefined) return undefined
  const values: Record<string, unknown> = { ...row, ...entry.info, ...entry }
  const writer = new RowWriter(table)
  writer.row(TABLES[table].map((name) => values[name] as Cell))
  return readRows(table, writer.finish()).next().value ?? undefined
}

/** Fields whose null means null; every other null in the text is an unknown number (NaN). */
const NULLABLE = new Set([
  ...['info', 'reserve0', 'reserve1', 'init_reserve0', 'init_reserve1', 'fee', 'creator', 'main_pair'],
  ...['name', 'symbol', 'decimals', 'total_supply', 'owner', 'risk', 'logo_url', 'links'],
  ...['launch_platform', 'launch_stage', 'launch_pool', 'burnt_supply', 'launch_price', 'share_supply'],
  'holders_since',
])

function unknownAsNaN(key: string, value: unknown): unknown {
  return value === null && !NULLABLE.has(key) ? Number.NaN : value
}
