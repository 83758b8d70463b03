/** Encodes a batch as the text of inserts, table by table. */
import {
  AT,
  CANDLE_WIDTH,
  FIRST_FIGURE,
  intervalOf,
  isRemoved,
  type PackedCandle,
} from '../../core/domain/packed-candles.js'
import { indexOfFigure, type PackedWindows, unpackWindows } from '../../core/domain/packed-windows.js'
import type { PairInfo, TokenInfo } from '../../core/domain/records.js'
import { rowVersion, type TableName } from '../../core/store/tables.js'
import { pairInfo, tokenInfo } from '../fold/update-entries.js'
import type { FoldState } from '../state/fold-state.js'
import { PAIR } from '../state/pairs.js'
import { TOKEN } from '../state/tokens.js'
import type { PairState, RowBatch, TokenState } from './row-batch.js'

/** Facts of pairs and tokens as the fold has them now. When they change, the pair or token is in a later batch again. */
export interface RowFacts {
  pair(address: string): { info: PairInfo; decimals0: number | null; decimals1: number | null } | undefined
  token(address: string): TokenInfo | undefined
  finalNowS(): number
}

export type Insert = { table: TableName; lines: string }

const DAY_BUY_VOLUME = indexOfFigure('24h', 'buy_volume')
const DAY_SELL_VOLUME = indexOfFigure('24h', 'sell_volume')

/** The progress row comes last: once it is stored, everything up to its seq is. */
export function encodeRows(chain: string, batch: RowBatch, facts: RowFacts): Insert[] {
  const inserts: Insert[] = []
  const push = (table: TableName, lines: string[]) => {
    if (lines.length > 0) inserts.push({ table, lines: lines.join('\n') })
  }
  const candles = [...(batch.lines.get('candle_rows') ?? [])]
  const pairs: string[] = []
  for (const [pair, state] of batch.pairs) {
    candleLines(chain, pair, state, candles)
    pairs.push(pairLine(chain, pair, state, facts))
  }
  push('trade_rows', batch.lines.get('trade_rows') ?? [])
  push('liquidity_rows', batch.lines.get('liquidity_rows') ?? [])
  push('candle_rows', candles)
  push('pair_rows', pairs)
  push(
    'token_rows',
    [...batch.tokens].map(([token, state]) => tokenLine(chain, token, state, facts)),
  )
  push(
    'holder_rows',
    [...batch.holders.values()].map((h) =>
      JSON.stringify([chain, h.token, h.holder, h.balance ?? '0', h.updatedAtS, h.version, h.balance === null ? 1 : 0]),
    ),
  )
  push('main_pair_rows', batch.lines.get('main_pair_rows') ?? [])
  if (batch.last !== null) {
    const { epoch, seq, number, hash, now } = batch.last
    const row = [chain, epoch, seq, number, hash, now, facts.finalNowS(), rowVersion(epoch, seq)]
    push('progress_rows', [JSON.stringify(row)])
  }
  return inserts
}

function candleLines(chain: string, pair: string, state: PairState, into: string[]): void {
  const name = JSON.stringify(chain)
  const address = JSON.stringify(pair)
  for (const kept of state.older) into.push(candleLine(name, address, kept.candle, kept.version))
  for (const kept of state.newest)
    if (kept !== undefined) into.push(candleLine(name, address, kept.candle, kept.version))
}

/** Built by hand for speed: most rows are candles, and all their values are numbers. */
function candleLine(chain: string, pair: string, candle: PackedCandle, version: number): string {
  const { data, at } = candle
  let line = `[${chain},${pair},"${intervalOf(candle)}",${data[at + AT.timeS]}`
  for (let figure = FIRST_FIGURE; figure < CANDLE_WIDTH; figure += 1) line += `,${n(data[at + figure] as number)}`
  return `${line},${version},${isRemoved(candle) ? 1 : 0}]`
}

function n(value: number): string {
  return Number.isFinite(value) ? String(value) : 'null'
}

const PAIR_FILLERS = new Array(20).fill(null)
const TOKEN_FILLERS = new Array(13).fill(null)

function pairLine(chain: string, pair: string, { update, version }: PairState, facts: RowFacts): string {
  const known = facts.pair(pair)
  if (update === null || known === undefined) return JSON.stringify([chain, pair, ...PAIR_FILLERS, version, 1])
  const { info, decimals0, decimals1 } = known
  const { candles: _candles, trades: _trades, liquidity: _liquidity, ...state } = update
  return JSON.stringify([
    ...[chain, pair, info.amm, info.token0, info.token1, info.target, decimals0, decimals1, info.fee, info.creator],
    ...[info.created_at, info.created_block, update.price_usd, update.price_native, update.price_quote],
    ...[update.reserve0, update.reserve1, update.tvl, update.tx_count, update.last_trade_at],
    ...[
      dayVolume(update.windows),
      JSON.stringify({ ...state, windows: unpackWindows(update.windows), info }),
      version,
      0,
    ],
  ])
}

function tokenLine(chain: string, token: string, { update, windows, version }: TokenState, facts: RowFacts): string {
  const info = facts.token(token)
  if (update === null || info === undefined) return JSON.stringify([chain, token, ...TOKEN_FILLERS, version, 1])
  return JSON.stringify([
    ...[chain, token, info.name, info.symbol, info.decimals, info.total_supply, update.price_usd, update.main_pair],
    ...[update.tvl, update.holders, dayVolume(windows), info.created_at, info.launch_platform],
    ...[info.launch_stage, JSON.stringify({ ...update, windows: unpackWindows(windows), info }), version, 0],
  ])
}

function dayVolume(windows: PackedWindows): number {
  return (windows[DAY_BUY_VOLUME] as number) + (windows[DAY_SELL_VOLUME] as number)
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
  }
}
