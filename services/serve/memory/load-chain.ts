import { windowsIn } from '../../core/domain/kept-figures.js'
import type { Store } from '../../core/store/port.js'
import { pairOfRow, STATE_COLUMNS, type StoredState, tokenOfRow } from '../../core/store/stored-states.js'
import { positionOf } from '../../core/store/tables.js'
import { loadRecentTrades, restoreSeenAt } from './load-recent.js'
import { type ReadFrom, tableIn } from './read-from.js'
import {
  createServedChain,
  dropPair,
  dropToken,
  KEEPS_ALL,
  PairState,
  putPair,
  putToken,
  type ServedChain,
  TokenState,
  trimFlushed,
} from './served-chain.js'

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
  for await (const row of storedStates(store, 'pair_rows', chain, from)) {
    const pair = pairOfRow(row)
    if (pair !== undefined) putPair(state, PairState.of(pair, pair.info, pair.updated_at), state.pairs.get(pair.pair))
    else dropKnownPair(state, String(row.pair))
    noteLoaded(state, row)
  }
  for await (const row of storedStates(store, 'token_rows', chain, from)) {
    const token = tokenOfRow(row)
    if (token === undefined) dropToken(state, String(row.token))
    else putToken(state, new TokenState(token, token.info, windowsIn(token)), state.tokens.get(token.token))
    noteLoaded(state, row)
  }
  // Rows are no chunks of the log.
  state.fresh.states = []
}

function dropKnownPair(state: ServedChain, address: string): void {
  const known = state.pairs.get(address)
  if (known !== undefined) dropPair(state, known)
}

/** Rows of a later epoch are replaced once that epoch is adopted. */
function noteLoaded(state: ServedChain, { version }: StoredState): void {
  const { epoch, seq } = positionOf(Number(version))
  if (epoch === state.epoch && seq > state.loadedThrough) state.loadedThrough = seq
}

async function* storedStates(
  store: Store,
  table: keyof typeof STATE_COLUMNS,
  chain: string,
  from: ReadFrom,
): AsyncGenerator<StoredState> {
  const name = tableIn(from, table)
  const key = table === 'pair_rows' ? 'pair' : 'token'
  const columns = STATE_COLUMNS[table]
  const { since } = from
  let after = ''
  for (;;) {
    const rows = await store.query<StoredState>(
      since === undefined
        ? `SELECT ${columns} FROM ${name} FINAL
           WHERE chain = {chain:String} AND ${key} > {after:String} ORDER BY ${key} LIMIT ${PAGE_ROWS}`
        : `SELECT ${columns} FROM ${name}
           WHERE chain = {chain:String} AND ${key} > {after:String} AND version > {since:UInt64}
           ORDER BY ${key}, version DESC LIMIT 1 BY ${key} LIMIT ${PAGE_ROWS}`,
      { chain, after, ...(since === undefined ? {} : { since }) },
      { maxRows: PAGE_ROWS, maxSeconds: 60 },
    )
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_ROWS) return
    after = String(last[key])
  }
}
