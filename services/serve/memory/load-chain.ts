import { type PackedWindows, packWindows, type Window } from '../../core/domain/packed-windows.js'
import type { PairUpdate, TokenUpdate } from '../../core/domain/records.js'
import type { Store } from '../../core/store/port.js'
import { positionOf } from '../../core/store/tables.js'
import { loadRecentTrades, restoreSeenAt } from './load-recent.js'
import { type ReadFrom, tableIn } from './read-from.js'
import {
  createServedChain,
  dropPair,
  dropToken,
  KEEPS_ALL,
  pairStateOf,
  putPair,
  putToken,
  type ServedChain,
  trimFlushed,
  UNKNOWN_TOKEN,
} from './served-chain.js'
import { tokenStateOf } from './token-state.js'

export type ProgressRow = {
  chain: string
  epoch: number
  seq: number
  number: number
  hash: string
  now: number
  /** Chain time of the last final block. */
  final_now: number
  /** Its number. */
  finalized: number
  /** Rows up to this version come from updates up to `seq`. */
  version: string
}
type StateRow = { id: string; state: string; windows: (number | null)[]; version: string; is_deleted?: number }

const PAGE_ROWS = 20_000

/** Reads how far each chain is flushed. */
export async function loadProgress(store: Store, from: ReadFrom = {}): Promise<ProgressRow[]> {
  const rows = await store.query<Record<keyof ProgressRow, unknown>>(
    `SELECT chain, epoch, seq, number, hash, now, final_now, finalized, version FROM ${tableIn(from, 'progress_rows')} FINAL
     ORDER BY chain`,
  )
  return rows.map((row) => ({
    chain: String(row.chain),
    epoch: Number(row.epoch),
    seq: Number(row.seq),
    number: Number(row.number),
    hash: String(row.hash),
    now: Number(row.now),
    final_now: Number(row.final_now),
    finalized: Number(row.finalized),
    version: String(row.version),
  }))
}

/** The same of one chain; undefined if nothing of it is flushed. */
export async function loadProgressOf(
  store: Store,
  chain: string,
  from: ReadFrom = {},
): Promise<ProgressRow | undefined> {
  return (await loadProgress(store, from)).find((row) => row.chain === chain)
}

/** As the `state` column has it; earlier versions wrote the windows into it. */
type Stored<Entry> = Omit<Entry, 'windows'> & { windows?: Window[] }
type StoredToken = Stored<TokenUpdate> & { main_price_usd?: number; main_open_usd?: number }

/** Loads a chain's state from the store; undefined if the store has nothing for it. */
export async function loadChain(store: Store, chain: string, keeps = KEEPS_ALL): Promise<ServedChain | undefined> {
  // Progress is read first: rows may be newer than it, never older, and applying an update twice is harmless.
  const progress = await loadProgressOf(store, chain)
  if (progress === undefined) return undefined
  const state = createServedChain(chain, keeps)
  await loadStates(store, state, progress)
  await restoreSeenAt(store, state, progress.version)
  if (keeps.history) await loadRecentTrades(store, state, progress.version, progress.final_now)
  return state
}

/** Pairs and tokens up to the progress, or those that changed since the state was loaded. */
export async function loadStates(
  store: Store,
  state: ServedChain,
  progress: ProgressRow,
  from: ReadFrom = {},
): Promise<void> {
  const { chain } = state
  state.epoch = progress.epoch
  state.seq = progress.seq
  state.head = { number: progress.number, hash: progress.hash, timeS: progress.now }
  state.nowS = progress.now
  state.finalized = progress.finalized
  trimFlushed(state, progress)
  for await (const row of stateRows(store, 'pair', chain, from)) {
    putPairRow(state, row)
    noteLoaded(state, row)
  }
  for await (const row of stateRows(store, 'token', chain, from)) {
    putTokenRow(state, row)
    noteLoaded(state, row)
  }
}

function putPairRow(state: ServedChain, row: StateRow): void {
  const known = state.pairs.get(row.id)
  if (row.is_deleted === 1) {
    if (known !== undefined) dropPair(state, known)
    return
  }
  const pair = JSON.parse(row.state, unknownAsNaN) as Stored<PairUpdate>
  const entry = { ...pair, windows: windowsOf(row, pair) }
  if (pair.info !== null) putPair(state, pairStateOf(entry, pair.info, pair.updated_at))
}

function putTokenRow(state: ServedChain, row: StateRow): void {
  if (row.is_deleted === 1) return dropToken(state, row.id)
  // The main pair's prices are for SQL alone.
  const { main_price_usd: _price, main_open_usd: _open, ...token } = JSON.parse(row.state, unknownAsNaN) as StoredToken
  const entry = { ...token, windows: windowsOf(row, token) }
  putToken(state, tokenStateOf(entry, token.info ?? UNKNOWN_TOKEN, entry.windows), state.tokens.get(row.id))
}

/** Rows of a later epoch are replaced once that epoch is adopted. */
function noteLoaded(state: ServedChain, { version }: StateRow): void {
  const { epoch, seq } = positionOf(Number(version))
  if (epoch === state.epoch && seq > state.loadedThrough) state.loadedThrough = seq
}

function windowsOf(row: StateRow, state: { windows?: Window[] }): PackedWindows {
  if (row.windows.length === 0) return packWindows(state.windows ?? [])
  return Float64Array.from(row.windows, (figure) => figure ?? Number.NaN)
}

async function* stateRows(
  store: Store,
  kind: 'pair' | 'token',
  chain: string,
  from: ReadFrom,
): AsyncGenerator<StateRow> {
  const table = tableIn(from, `${kind}_rows`)
  const { since } = from
  let after = ''
  for (;;) {
    const rows = await store.query<StateRow>(
      since === undefined
        ? `SELECT ${kind} AS id, state, windows, version FROM ${table} FINAL
           WHERE chain = {chain:String} AND ${kind} > {after:String} ORDER BY ${kind} LIMIT ${PAGE_ROWS}`
        : `SELECT ${kind} AS id, state, windows, version, is_deleted FROM ${table}
           WHERE chain = {chain:String} AND ${kind} > {after:String} AND version > {since:UInt64}
           ORDER BY ${kind}, version DESC LIMIT 1 BY ${kind} LIMIT ${PAGE_ROWS}`,
      { chain, after, ...(since === undefined ? {} : { since }) },
      { maxRows: PAGE_ROWS, maxSeconds: 60 },
    )
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_ROWS) return
    after = last.id
  }
}

/** Fields whose null means null; every other null in a stored state is an unknown number (NaN). */
const NULLABLE = new Set([
  ...['info', 'reserve0', 'reserve1', 'init_reserve0', 'init_reserve1', 'fee', 'creator', 'main_pair'],
  ...['name', 'symbol', 'decimals', 'total_supply', 'owner', 'risk', 'logo_url', 'links'],
  ...['launch_platform', 'launch_stage', 'launch_pool', 'burnt_supply', 'launch_price', 'share_supply'],
  'holders_since',
])

function unknownAsNaN(key: string, value: unknown): unknown {
  return value === null && !NULLABLE.has(key) ? Number.NaN : value
}
