/**
 * Rows for the store, gathered over blocks. Within a batch only the last state of a pair, token, holder or candle is
 * kept, under the seq that last changed it: the rows do not depend on where batches end.
 */
import { INTERVALS } from '../../core/domain/chains.js'
import { AT, CANDLE_WIDTH, type PackedCandles } from '../../core/domain/packed-candles.js'
import type { PackedWindows } from '../../core/domain/packed-windows.js'
import type { BlockUpdate, LiquidityTrade, PairUpdate, TokenUpdate, Trade } from '../../core/domain/records.js'
import { type Cell, RowWriter } from '../../core/store/row-binary.js'
import { rowVersion, type TableName } from '../../core/store/tables.js'
import type { FoldResult, HolderChange } from '../fold/block-changes.js'
import type { HolderHour } from '../fold/holder-hours.js'
import type { PairHour } from '../fold/pair-hours.js'
import { NO_BATCH } from '../state/balances.js'

/** Reused while later blocks change the same candle. */
type CandleState = { data: PackedCandles; at: number; version: number }

/** A pair's last state in the batch; null: the pair was removed by a reorg. */
export type PairState = {
  update: PairUpdate | null
  version: number
  /** The newest candle of each interval, and those before it. */
  newest: (CandleState | undefined)[]
  older: CandleState[]
  hours: HourState[]
}

export type HourState = PairHour & { version: number }

export type TokenState = { update: TokenUpdate | null; windows: PackedWindows; version: number }
export type HolderHourState = HolderHour & { version: number }

const NO_WINDOWS: PackedWindows = new Float64Array(0)

let lastBatch = NO_BATCH

export class RowBatch {
  /** Rows that no later block of the batch replaces. */
  readonly writers = new Map<TableName, RowWriter>()
  readonly pairs = new Map<string, PairState>()
  readonly tokens = new Map<string, TokenState>()
  readonly holders: HolderChange[] = []
  readonly holderHours = new Map<string, HolderHourState[]>()
  /** The last update in the batch. */
  last: BlockUpdate | null = null
  /** How many rows it has. */
  rows = 0
  private readonly number: number

  constructor(private readonly chain: string) {
    lastBatch += 1
    this.number = lastBatch
  }

  add(result: FoldResult): void {
    const { update } = result
    const version = rowVersion(update.epoch, update.seq)
    this.last = update
    for (const entry of update.pairs) this.addPair(entry, update, version)
    for (const entry of result.moved.pairs) this.addPair(entry, update, version)
    for (const hour of result.pairHours) this.addHour(hour, version)
    for (const { pair, gone } of update.retracted) if (gone) this.pairOf(pair, version).update = null
    for (const token of update.tokens) this.addToken(token, version)
    for (const token of result.moved.tokens) this.addToken(token, version)
    for (const token of update.gone_tokens) this.setToken(token, { update: null, windows: NO_WINDOWS, version })
    for (const change of result.holders) this.addHolder(change)
    for (const hour of result.holderHours) this.addHolderHour(hour, version)
    for (const { token, old_pair: old, new_pair: next } of update.kind === 'block' ? update.main_pair_changes : []) {
      this.put('main_pair_rows', [this.chain, token, update.number, update.time, old, next, version, 0])
    }
    this.addTombstones(result, version)
  }

  private addPair(entry: PairUpdate, { number, time }: BlockUpdate, version: number): void {
    const state = this.pairOf(entry.pair, version)
    state.update = entry
    const { candles } = entry
    for (let at = 0; at < candles.length; at += CANDLE_WIDTH) {
      this.addCandle(state, candles, at, version)
    }
    for (const trade of entry.trades) {
      putTrade(this.writer('trade_rows'), this.chain, entry.pair, time, number, trade, version)
      this.rows += 1
    }
    for (const item of entry.liquidity) {
      this.put('liquidity_rows', liquidityRow(this.chain, entry.pair, time, number, item, version))
    }
  }

  private addHour(hour: PairHour, version: number): void {
    const { pair, hourS, figures } = hour
    if (putHour(this.pairOf(pair, version).hours, { pair, hourS, figures, version })) this.rows += 1
  }

  private addHolderHour(hour: HolderHour, version: number): void {
    let hours = this.holderHours.get(hour.token)
    if (hours === undefined) {
      hours = []
      this.holderHours.set(hour.token, hours)
    }
    if (putHour(hours, { ...hour, version })) this.rows += 1
  }

  private addHolder(change: HolderChange): void {
    const { of } = change
    if (of.batch === this.number) this.holders[of.index] = change
    else {
      of.batch = this.number
      of.index = this.holders.length
      this.holders.push(change)
      this.rows += 1
    }
  }

  /** Windows that are not repeated are those of the main pair's entry, which was just added. */
  private addToken(token: TokenUpdate, version: number): void {
    const main = token.windows.length > 0 ? undefined : this.pairs.get(token.main_pair ?? '')
    this.setToken(token.token, { update: token, windows: main?.update?.windows ?? token.windows, version })
  }

  private setToken(token: string, state: TokenState): void {
    if (!this.tokens.has(token)) this.rows += 1
    this.tokens.set(token, state)
  }

  private pairOf(pair: string, version: number): PairState {
    let state = this.pairs.get(pair)
    if (state === undefined) {
      state = { update: null, version, newest: [], older: [], hours: [] }
      this.pairs.set(pair, state)
      this.rows += 1
    }
    state.version = version
    return state
  }

  private addCandle(state: PairState, data: PackedCandles, at: number, version: number): void {
    const interval = data[at + AT.interval] as number
    const timeS = data[at + AT.timeS] as number
    const known = findCandle(state, interval, timeS)
    if (known !== undefined) {
      known.data = data
      known.at = at
      known.version = version
      return
    }
    this.rows += 1
    const next = { data, at, version }
    const newest = state.newest[interval]
    const isNewest = newest === undefined || timeOf(newest) < timeS
    if (isNewest) state.newest[interval] = next
    const older = isNewest ? newest : next
    if (older !== undefined) state.older.push(older)
  }

  private addTombstones({ goneEvents, goneCandles, goneMainPairs }: FoldResult, version: number): void {
    for (const { table, pair, timeS, block, txIndex, logIndex, sub } of goneEvents) {
      const columns = table === 'trade_rows' ? TRADE_FILLERS : LIQUIDITY_FILLERS
      this.put(table, [this.chain, pair, timeS, block, txIndex, logIndex, sub, ...columns, version, 1])
    }
    for (const { pair, interval, timeS } of goneCandles) {
      this.put('candle_rows', [this.chain, pair, INTERVALS[interval], timeS, ...CANDLE_FILLERS, version, 1])
    }
    for (const { token, block } of goneMainPairs) {
      this.put('main_pair_rows', [this.chain, token, block, this.last?.time ?? 0, null, null, version, 1])
    }
  }

  private put(table: TableName, row: readonly Cell[]): void {
    this.writer(table).row(row)
    this.rows += 1
  }

  writer(table: TableName): RowWriter {
    let writer = this.writers.get(table)
    if (writer === undefined) {
      writer = new RowWriter(table)
      this.writers.set(table, writer)
    }
    return writer
  }
}

/** True for an hour that is not there yet. Most are the last one again. */
function putHour<Hour extends { hourS: number }>(hours: Hour[], next: Hour): boolean {
  let at = hours.length - 1
  while (at >= 0 && hours[at]?.hourS !== next.hourS) at -= 1
  if (at >= 0) hours[at] = next
  else hours.push(next)
  return at < 0
}

function findCandle({ newest, older }: PairState, interval: number, timeS: number): CandleState | undefined {
  const last = newest[interval]
  if (last === undefined || timeOf(last) < timeS) return undefined
  if (timeOf(last) === timeS) return last
  return older.find((one) => one.data[one.at + AT.interval] === interval && timeOf(one) === timeS)
}

const timeOf = ({ data, at }: CandleState): number => data[at + AT.timeS] as number

const TRADE_FILLERS = new Array<null>(20).fill(null)
const LIQUIDITY_FILLERS = new Array<null>(13).fill(null)
const CANDLE_FILLERS = new Array<null>(18).fill(null)

/** Value by value for speed: most rows of a batch are trades and candles. */
function putTrade(
  to: RowWriter,
  chain: string,
  pair: string,
  timeS: number,
  block: number,
  t: Trade,
  version: number,
): void {
  to.text(chain)
  to.text(pair)
  to.uint32(timeS)
  to.uint64(block)
  to.uint32(t.tx_index)
  to.uint32(t.log_index)
  to.uint32(t.sub)
  to.text(t.tx_hash)
  to.text(t.id)
  to.uint64(t.tx_seq)
  to.uint8(t.sell ? 1 : 0)
  to.text(t.sender)
  to.text(t.recipient)
  to.text(t.wallet)
  to.text(t.amount_in)
  to.text(t.amount_out)
  to.text(t.reserve0)
  to.text(t.reserve1)
  to.double(t.price_usd)
  to.double(t.price_native)
  to.double(t.price_quote)
  to.double(t.quote_usd)
  to.double(t.quote_native)
  to.double(t.amount_usd)
  to.double(t.amount_native)
  to.uint8(t.flags)
  to.text(t.quote_path)
  to.uint64(version)
  to.uint8(0)
}

function liquidityRow(
  chain: string,
  pair: string,
  timeS: number,
  block: number,
  l: LiquidityTrade,
  version: number,
): Cell[] {
  return [
    ...[chain, pair, timeS, block, l.tx_index, l.log_index, l.sub, l.tx_hash, l.id, l.kind, l.sender, l.wallet],
    ...[l.amount0, l.amount1, l.reserve0, l.reserve1, l.amount_usd, l.amount_native, l.price0_usd, l.price1_usd],
    ...[version, 0],
  ]
}
