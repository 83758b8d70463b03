/** Encodes a batch as inserts, table by table. */
import type { PairInfo, TokenInfo } from '../../core/domain/records.js'
import { atOnce } from '../../core/runtime/in-turns.js'
import type { Cell, RowWriter } from '../../core/store/row-binary.js'
import { rowVersion, TABLES, type TableName } from '../../core/store/tables.js'
import type { HolderChange } from '../fold/block-changes.js'
import { pairInfo, tokenInfo } from '../fold/update-entries.js'
import type { FoldState } from '../state/fold-state.js'
import { PAIR } from '../state/pairs.js'
import { TOKEN } from '../state/tokens.js'
import type { RowBatch } from './row-batch.js'

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
 * A batch is encoded once, until it is cleared: its rows are written to its own writers. Facts are those of the first step, so that
 * blocks can be folded between the others.
 */
export function* encodingRows(chain: string, batch: RowBatch, facts: RowFacts): Generator<void, Insert[]> {
  const { pairs, tokens } = batch
  const pairFacts = Array.from({ length: pairs.size }, (_, slot) => facts.pair(pairs.addressOf(slot)))
  const tokenFacts = Array.from({ length: tokens.size }, (_, slot) => {
    const token = tokens.addressOf(slot)
    return { info: facts.token(token), prices: facts.mainPrices(token) }
  })
  const finalNowS = facts.finalNowS()
  yield
  for (const [slot, known] of pairFacts.entries()) {
    batch.writer('pair_rows').row(pairRow(chain, batch, slot, known))
    yield
  }
  for (const [slot, { info, prices }] of tokenFacts.entries()) {
    batch.writer('token_rows').row(tokenRow(chain, batch, slot, info, prices))
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
    const rows = batch.writers.get(table)?.finish()
    return rows === undefined || rows.length === 0 ? [] : [{ table, rows }]
  })
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

/** Between the key and the version. */
const PAIR_FILLERS = new Array<null>(TABLES.pair_rows.length - 4).fill(null)
const TOKEN_FILLERS = new Array<null>(TABLES.token_rows.length - 4).fill(null)

function pairRow(chain: string, { pairs }: RowBatch, slot: number, known: PairFacts): Cell[] {
  const pair = pairs.addressOf(slot)
  const texts = pairs.textsOf(slot)
  if (texts === null || known === undefined) return [chain, pair, ...PAIR_FILLERS, pairs.versionOf(slot), 1]
  const { info, decimals0, decimals1 } = known
  return [
    ...[chain, pair, info.amm, info.token0, info.token1, info.target, decimals0, decimals1, info.fee, info.creator],
    ...[info.created_at, info.created_block, info.share_supply, texts.reserve0, texts.reserve1],
    ...[texts.init_reserve0, texts.init_reserve1, ...pairs.lastCells(slot)],
  ]
}

function tokenRow(
  chain: string,
  { tokens }: RowBatch,
  slot: number,
  info: TokenInfo | undefined,
  prices: MainPrices,
): Cell[] {
  const token = tokens.addressOf(slot)
  const texts = tokens.textsOf(slot)
  if (texts === null || info === undefined) return [chain, token, ...TOKEN_FILLERS, tokens.versionOf(slot), 1]
  return [
    ...[chain, token, info.name, info.symbol, info.decimals, info.total_supply, info.owner, info.risk],
    ...[info.logo_url, info.links, info.created_at, info.launch_platform, info.launch_stage, info.launch_progress],
    ...[info.launch_pool, info.launch_at, info.burnt_supply, info.launch_price, info.holders_since],
    ...[texts.main_pair, prices?.main_price_usd, prices?.main_open_usd, ...tokens.lastCells(slot)],
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
