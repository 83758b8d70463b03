/** The events of a pair's entry as the bytes they are in a record. */

import type { PackedCandles } from '../domain/packed-candles.js'
import type { EntryCandles, PairEvents, VisitPlace } from '../domain/pair-events.js'
import type { LiquidityTrade, Trade } from '../domain/records.js'
import { candlesForm, countCandles, viewOf, visitCandles } from './packed-forms.js'

/** A part of a record that was passed over: its bytes, and how many items it has. */
export type Passed = { buf: Buffer; start: number; end: number; count: number }

export type ReadList<Item> = (list: Buffer) => Item[]

/** Both lists are read by the type that passed over them. */
export type ListReaders = { trades: ReadList<Trade>; liquidity: ReadList<LiquidityTrade> }

export class LazyEvents implements PairEvents {
  readonly candles: EntryCandles
  readonly tradeCount: number
  readonly liquidityCount: number
  readonly bytes: number
  private readonly tradesStart: number
  private readonly liquidityStart: number
  private readonly end: number
  private readTrades: Trade[] | undefined
  private readLiquidity: LiquidityTrade[] | undefined

  constructor(
    private readonly buf: Buffer,
    private readonly readers: ListReaders,
    candles: Passed,
    trades: Passed,
    liquidity: Passed,
  ) {
    this.candles = new LazyCandles(candles.buf, candles.start, candles.end)
    this.tradesStart = trades.start
    this.tradeCount = trades.count
    this.liquidityStart = liquidity.start
    this.liquidityCount = liquidity.count
    this.end = liquidity.end
    this.bytes = liquidity.end - candles.start
  }

  get trades(): Trade[] {
    this.readTrades ??= this.readers.trades(this.buf.subarray(this.tradesStart, this.liquidityStart))
    return this.readTrades
  }

  get liquidity(): LiquidityTrade[] {
    this.readLiquidity ??= this.readers.liquidity(this.buf.subarray(this.liquidityStart, this.end))
    return this.readLiquidity
  }
}

class LazyCandles implements EntryCandles {
  private unpacked: PackedCandles | undefined
  private counted: number | undefined

  constructor(
    private buf: Uint8Array,
    private start: number,
    private end: number,
  ) {}

  get count(): number {
    this.counted ??= countCandles(viewOf(this.buf), this.start, this.end)
    return this.counted
  }

  get packed(): PackedCandles {
    this.unpacked ??= candlesForm.read(viewOf(this.buf), this.start, this.end)
    return this.unpacked
  }

  places(visit: VisitPlace): void {
    visitCandles(viewOf(this.buf), this.start, this.end, visit)
  }

  detach(): void {
    const { buf, start, end } = this
    if (buf.length === end - start) return
    this.buf = new Uint8Array(end - start)
    this.buf.set(buf.subarray(start, end))
    this.start = 0
    this.end = end - start
  }
}
