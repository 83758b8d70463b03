/**
 * Rows for the store, gathered over blocks as the bytes that are inserted, or as numbers. Within a batch only the last state of a
 * pair, token, holder or candle is kept, under the seq that last changed it: the rows do not depend on where batches end.
 */
import { INTERVALS } from '../../core/domain/chains.js'
import { AT, CANDLE_WIDTH } from '../../core/domain/packed-candles.js'
import type { BlockUpdate, LiquidityTrade, PairUpdate, TokenUpdate, Trade } from '../../core/domain/records.js'
import { PAIR_FIGURES, TOKEN_FIGURES } from '../../core/domain/state-figures.js'
import { type Cell, RowWriter } from '../../core/store/row-binary.js'
import { rowVersion, type TableName } from '../../core/store/tables.js'
import type { FoldResult, HolderChange } from '../fold/block-changes.js'
import type { HolderHour } from '../fold/holder-hours.js'
import type { PairHour } from '../fold/pair-hours.js'
import { NO_BATCH } from '../state/balances.js'
import { BatchStates } from './batch-states.js'
import { CandleRows } from './candle-rows.js'
import { PairHourRows } from './pair-hour-rows.js'

export type PairTexts = Pick<PairUpdate, 'reserve0' | 'reserve1' | 'init_reserve0' | 'init_reserve1'>
export type TokenTexts = Pick<TokenUpdate, 'main_pair'>
export type HolderHourState = HolderHour & { version: number }

/** A pair's series of timed rows: the candles of each interval, then its hours. */
const HOURS = INTERVALS.length
/** Of a pair in a batch: its own row and the newest of each series. */
const NEWEST_ROWS_A_PAIR = HOURS + 2
/** Memory of a batch that need not be in proportion to its rows. */
const SMALL_BYTES = 1024 * 1024
const MOST_BYTES_A_BYTE = 2

let lastBatch = NO_BATCH
const nextBatch = (): number => ++lastBatch

export class RowBatch {
  /** Rows as bytes; those of pairs, tokens and holders are written when the batch is encoded. */
  readonly writers = new Map<TableName, RowWriter>()
  readonly pairs = new BatchStates<(typeof PAIR_FIGURES)[number], PairTexts>(PAIR_FIGURES, HOURS + 1)
  readonly tokens = new BatchStates<(typeof TOKEN_FIGURES)[number], TokenTexts>(TOKEN_FIGURES)
  readonly candles: CandleRows
  readonly pairHours: PairHourRows
  readonly holders: HolderChange[] = []
  readonly holderHours = new Map<string, HolderHourState[]>()
  /** The last update in the batch. */
  last: BlockUpdate | null = null
  /** Of rows that are in no other list. */
  private otherRows = 0
  private number = nextBatch()

  constructor(private readonly chain: string) {
    this.candles = new CandleRows(chain, this.writer('candle_rows'))
    this.pairHours = new PairHourRows(chain, this.writer('pair_hour_rows'))
  }

  /** How many rows it has. */
  get rows(): number {
    const { pairs, tokens, candles, pairHours, holders } = this
    return pairs.size + tokens.size + candles.count + pairHours.count + holders.length + this.otherRows
  }

  /** At most so many of its rows are written again by the next batch, if everything in it changes once more. */
  get unsettledRows(): number {
    return this.pairs.size * NEWEST_ROWS_A_PAIR + this.tokens.size
  }

  /** Empties it, once its rows are stored, and keeps its memory for the next ones. */
  clear(): void {
    this.number = nextBatch()
    for (const part of [this.pairs, this.tokens, this.candles, this.pairHours, ...this.writers.values()]) part.clear()
    this.holders.length = 0
    this.holderHours.clear()
    this.last = null
    this.otherRows = 0
  }

  /** It has far more memory than its rows took. */
  get isTooLarge(): boolean {
    let [used, capacity] = [0, 0]
    for (const writer of this.writers.values()) {
      used += writer.position
      capacity += writer.capacity
    }
    return capacity > Math.max(SMALL_BYTES, used * MOST_BYTES_A_BYTE)
  }

  add(result: FoldResult): void {
    const { update } = result
    const version = rowVersion(update.epoch, update.seq)
    this.last = update
    for (const entry of update.pairs) this.addPair(entry, update, version)
    for (const entry of result.moved.pairs) this.addPair(entry, update, version)
    for (const hour of result.pairHours) this.addHour(hour, version)
    for (const { pair, gone } of update.retracted) if (gone) this.pairs.remove(this.pairSlot(pair, version))
    for (const token of update.tokens) this.addToken(token, version)
    for (const token of result.moved.tokens) this.addToken(token, version)
    for (const token of update.gone_tokens) this.tokens.remove(this.tokenSlot(token, version))
    for (const change of result.holders) this.addHolder(change)
    for (const hour of result.holderHours) this.addHolderHour(hour, version)
    for (const { token, old_pair: old, new_pair: next } of update.kind === 'block' ? update.main_pair_changes : []) {
      this.put('main_pair_rows', [this.chain, token, update.number, update.time, old, next, version, 0])
    }
    this.addTombstones(result, version)
  }

  private addPair(entry: PairUpdate, { number, time }: BlockUpdate, version: number): void {
    const { pair, candles, reserve0, reserve1, init_reserve0, init_reserve1 } = entry
    const slot = this.pairSlot(pair, version)
    this.pairs.set(slot, entry, { reserve0, reserve1, init_reserve0, init_reserve1 }, entry.windows)
    for (let at = 0; at < candles.length; at += CANDLE_WIDTH) {
      const interval = candles[at + AT.interval] as number
      const newest = this.candles.put(this.pairs.newestRow(slot, interval), pair, candles, at, version)
      this.pairs.setNewestRow(slot, interval, newest)
    }
    for (const trade of entry.trades) {
      putTrade(this.writer('trade_rows'), this.chain, pair, time, number, trade, version)
      this.otherRows += 1
    }
    for (const item of entry.liquidity) {
      this.put('liquidity_rows', liquidityRow(this.chain, pair, time, number, item, version))
    }
  }

  private addHour(hour: PairHour, version: number): void {
    const slot = this.pairSlot(hour.pair, version)
    this.pairs.setNewestRow(slot, HOURS, this.pairHours.put(this.pairs.newestRow(slot, HOURS), hour, version))
  }

  private addHolderHour({ token, hourS, holders }: HolderHour, version: number): void {
    let hours = this.holderHours.get(token)
    if (hours === undefined) {
      hours = []
      this.holderHours.set(token, hours)
    }
    const known = hours.findLast((hour) => hour.hourS === hourS)
    if (known === undefined) {
      hours.push({ token, hourS, holders, version })
      this.otherRows += 1
      return
    }
    known.holders = holders
    known.version = version
  }

  private addHolder(change: HolderChange): void {
    const { of } = change
    if (of.batch === this.number) this.holders[of.index] = change
    else {
      of.batch = this.number
      of.index = this.holders.length
      this.holders.push(change)
    }
  }

  /** Windows that are not repeated are those of the main pair's entry, which was just added. */
  private addToken(token: TokenUpdate, version: number): void {
    const main = token.windows.length > 0 ? undefined : this.pairs.find(token.main_pair ?? '')
    const windows = main === undefined ? token.windows : this.pairs.windowsOf(main)
    const slot = this.tokenSlot(token.token, version)
    this.tokens.set(slot, token, { main_pair: token.main_pair }, windows)
  }

  private tokenSlot(token: string, version: number): number {
    const slot = this.tokens.find(token) ?? this.tokens.add(token)
    this.tokens.setVersion(slot, version)
    return slot
  }

  private pairSlot(pair: string, version: number): number {
    const slot = this.pairs.find(pair) ?? this.pairs.add(pair)
    this.pairs.setVersion(slot, version)
    return slot
  }

  private addTombstones({ goneEvents, goneCandles, goneMainPairs }: FoldResult, version: number): void {
    for (const { table, pair, timeS, block, txIndex, logIndex, sub } of goneEvents) {
      const columns = table === 'trade_rows' ? TRADE_FILLERS : LIQUIDITY_FILLERS
      this.put(table, [this.chain, pair, timeS, block, txIndex, logIndex, sub, ...columns, version, 1])
    }
    for (const { pair, interval, timeS } of goneCandles) {
      this.candles.putGone(pair, interval, timeS, version)
    }
    for (const { token, block } of goneMainPairs) {
      this.put('main_pair_rows', [this.chain, token, block, this.last?.time ?? 0, null, null, version, 1])
    }
  }

  private put(table: TableName, row: readonly Cell[]): void {
    this.writer(table).row(row)
    this.otherRows += 1
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

const TRADE_FILLERS = new Array<null>(20).fill(null)
const LIQUIDITY_FILLERS = new Array<null>(13).fill(null)

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
