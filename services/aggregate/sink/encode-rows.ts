/** Encodes a batch as inserts, table by table. */
import {
  AT,
  CANDLE_WIDTH,
  FIRST_FIGURE,
  intervalOf,
  isRemoved,
  type PackedCandle,
} from '../../core/domain/packed-candles.js'
import { dayVolumeUsd } from '../../core/domain/packed-windows.js'
import type { PairInfo, TokenInfo } from '../../core/domain/records.js'
import { atOnce } from '../../core/runtime/in-turns.js'
import type { Cell, RowWriter } from '../../core/store/row-binary.js'
import { rowVersion, type TableName } from '../../core/store/tables.js'
import type { HolderChange } from '../fold/block-changes.js'
import { pairInfo, tokenInfo } from '../fold/update-entries.js'
import type { FoldState } from '../state/fold-state.js'
import { PAIR } from '../state/pairs.js'
import { TOKEN } from '../state/tokens.js'
import type { HourState, PairState, RowBatch, TokenState } from './row-batch.js'

type PairFacts = { info: PairInfo; decimals0: number | null; decimals1: number | null } | undefined
type MainPrices = { main_price_usd: number; main_open_usd: number } | undefined

/** Facts of pairs and tokens as the fold has them now. When they change, the pair or token is in a later batch again. */
export interface RowFacts {
  pair(address: string): PairFacts
  token(address: string): TokenInfo | undefined
  /** Prices of a token's main pair, for its change. */
  mainPrices(address: string): MainPrices
  finalNowS(): number
}

/** `rows`: in the format of row-binary.ts. */
export type Insert = { table: TableName; rows: Uint8Array }

/** The progress row comes last: once it is stored, everything up to its seq is. */
const ORDER = [
  ...(['trade_rows', 'liquidity_rows', 'candle_rows', 'pair_rows', 'token_rows', 'holder_rows'] as const),
  ...(['pair_hour_rows', 'holder_hour_rows', 'main_pair_rows', 'progress_rows'] as const),
] satisfies TableName[]

/** All rows of a batch at once; see `encodingRows`. */
export function encodeRows(chain: string, batch: RowBatch, facts: RowFacts): Insert[] {
  return atOnce(encodingRows(chain, batch, facts))
}

/**
 * A batch is encoded once: its rows are written to its own writers. Facts are those of the first step, so that blocks can be folded
 * between the others.
 */
export function* encodingRows(chain: string, batch: RowBatch, facts: RowFacts): Generator<void, Insert[]> {
  const pairs = [...batch.pairs].map(([pair, state]) => ({ pair, state, known: facts.pair(pair) }))
  const tokens = [...batch.tokens].map(([token, state]) => {
    return { token, state, info: facts.token(token), prices: facts.mainPrices(token) }
  })
  const finalNowS = facts.finalNowS()
  yield
  for (const { pair, state, known } of pairs) {
    for (const kept of [...state.older, ...state.newest])
      if (kept !== undefined) putCandle(batch.writer('candle_rows'), chain, pair, kept, kept.version)
    for (const hour of state.hours) putHour(batch.writer('pair_hour_rows'), chain, hour)
    batch.writer('pair_rows').row(pairRow(chain, pair, state, known))
    yield
  }
  for (const { token, state, info, prices } of tokens) {
    batch.writer('token_rows').row(tokenRow(chain, token, state, info, prices))
    yield
  }
  const epoch = batch.last?.epoch ?? 0
  for (const change of batch.holders) {
    putHolder(batch.writer('holder_rows'), chain, change, rowVersion(epoch, change.seq))
    yield
  }
  for (const { token, hourS, holders, version } of [...batch.holderHours.values()].flat())
    batch.writer('holder_hour_rows').row([chain, token, hourS, holders ?? 0, version, holders === null ? 1 : 0])
  if (batch.last !== null) {
    const { epoch, seq, number, hash, now, finalized_number: finalized } = batch.last
    const row = [chain, epoch, seq, number, hash, now, finalNowS, finalized, rowVersion(epoch, seq)]
    batch.writer('progress_rows').row(row)
  }
  return ORDER.flatMap((table) => {
    const writer = batch.writers.get(table)
    return writer === undefined ? [] : [{ table, rows: writer.finish() }]
  })
}

/** Value by value for speed: most rows are candles. */
function putCandle(to: RowWriter, chain: string, pair: string, candle: PackedCandle, version: number): void {
  const { data, at } = candle
  to.text(chain)
  to.text(pair)
  to.text(intervalOf(candle))
  to.uint32(data[at + AT.timeS] as number)
  for (let figure = FIRST_FIGURE; figure < CANDLE_WIDTH; figure += 1) to.double(data[at + figure] as number)
  to.uint64(version)
  to.uint8(isRemoved(candle) ? 1 : 0)
}

function putHour(to: RowWriter, chain: string, { pair, hourS, figures, version }: HourState): void {
  to.text(chain)
  to.text(pair)
  to.uint32(hourS)
  to.double(figures?.priceUsd ?? null)
  to.double(figures?.tvlUsd ?? null)
  to.double(figures?.liquidityUsd ?? null)
  to.double(figures?.supply ?? null)
  to.double(figures?.supplyLeft ?? null)
  to.uint64(version)
  to.uint8(figures === null ? 1 : 0)
}

/** Value by value for speed: where balances are followed, most rows are holders. */
function putHolder(to: RowWriter, chain: string, change: HolderChange, version: number): void {
  to.text(chain)
  to.text(change.of.token)
  to.text(change.of.holder)
  to.text(change.raw?.toString() ?? '0')
  to.uint32(change.updatedAtS)
  to.uint64(version)
  to.uint8(change.raw === null ? 1 : 0)
}

const PAIR_FILLERS = new Array<null>(21).fill(null)
const TOKEN_FILLERS = new Array<null>(14).fill(null)

function pairRow(chain: string, pair: string, { update, version }: PairState, known: PairFacts): Cell[] {
  if (update === null || known === undefined) return [chain, pair, ...PAIR_FILLERS, version, 1]
  const { info, decimals0, decimals1 } = known
  const { windows, candles: _candles, trades: _trades, liquidity: _liquidity, ...state } = update
  return [
    ...[chain, pair, info.amm, info.token0, info.token1, info.target, decimals0, decimals1, info.fee, info.creator],
    ...[info.created_at, info.created_block, update.price_usd, update.price_native, update.price_quote],
    ...[update.reserve0, update.reserve1, update.tvl, update.tx_count, update.last_trade_at],
    ...[dayVolumeUsd(windows), JSON.stringify({ ...state, info }), windows, version, 0],
  ]
}

function tokenRow(
  chain: string,
  token: string,
  { update, windows, version }: TokenState,
  info: TokenInfo | undefined,
  prices: MainPrices,
): Cell[] {
  if (update === null || info === undefined) return [chain, token, ...TOKEN_FILLERS, version, 1]
  const { windows: _windows, ...state } = update
  return [
    ...[chain, token, info.name, info.symbol, info.decimals, info.total_supply, update.price_usd, update.main_pair],
    ...[update.tvl, update.holders, dayVolumeUsd(windows), info.created_at, info.launch_platform],
    ...[info.launch_stage, JSON.stringify({ ...state, info, ...prices }), windows, version, 0],
  ]
}

export function rowFactsOf(state: FoldState): RowFacts {
  const decimals = (token: number): number | null => {
    const known = state.tokens.rows.get(token, TOKEN.decimals)
    return Number.isNaN(known) ? null : known
  }
  return {
    finalNowS: () => state.finalNowS,
    pair(address) {
      const id = state.pairs.find(address)
      if (id === undefined) return undefined
      const { rows } = state.pairs
      return {
        info: pairInfo(state, id),
        decimals0: decimals(rows.get(id, PAIR.token0)),
        decimals1: decimals(rows.get(id, PAIR.token1)),
      }
    },
    token(address) {
      const id = state.tokens.find(address)
      return id === undefined ? undefined : tokenInfo(state, id)
    },
    mainPrices(address) {
      const id = state.tokens.find(address)
      const main = id === undefined ? -1 : state.tokens.rows.get(id, TOKEN.mainPair)
      if (main < 0) return undefined
      const { rows } = state.pairs
      return { main_price_usd: rows.get(main, PAIR.priceUsd), main_open_usd: rows.get(main, PAIR.openPriceUsd) }
    },
  }
}
