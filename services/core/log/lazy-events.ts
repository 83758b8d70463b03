/** The parts of a pair's entry as the bytes they are in a record. */

import type { KeptFigures, KeptWindows, PairFigures } from '../domain/kept-figures.js'
import type { PackedCandles } from '../domain/packed-candles.js'
import type { PackedWindows } from '../domain/packed-windows.js'
import type { EntryCandles, PairEvents, VisitPlace } from '../domain/pair-events.js'
import type { LiquidityTrade, Trade } from '../domain/records.js'
import { candlesForm, countCandles, viewOf, visitCandles, windowsForm } from './packed-forms.js'

/** A list of a record that was passed over. */
export type PassedList = { start: number; count: number }

export type ReadFigures = (bytes: Buffer) => PairFigures

export type ReadList<Item> = (list: Buffer) => Item[]

/** Both lists are read by the type that passed over them. */
export type ListReaders = { trades: ReadList<Trade>; liquidity: ReadList<LiquidityTrade> }

export class LazyEvents implements PairEvents {
  readonly tradeCount: number
  readonly liquidityCount: number
  readonly bytes: number
  private readonly tradesStart: number
  private readonly liquidityStart: number
  private readTrades: Trade[] | undefined
  private readLiquidity: LiquidityTrade[] | undefined

  constructor(
    private readonly buf: Buffer,
    private readonly readers: ListReaders,
    readonly candles: EntryCandles,
    trades: PassedList,
    liquidity: PassedList,
    private readonly end: number,
  ) {
    this.tradesStart = trades.start
    this.tradeCount = trades.count
    this.liquidityStart = liquidity.start
    this.liquidityCount = liquidity.count
    this.bytes = end - trades.start
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

/** Where the parts of an entry are that outlive its update: they follow one another. */
export type BodyPlaces = {
  start: number
  figuresEnd: number
  windows: number
  windowsEnd: number
  candles: number
  end: number
}

/** Figures, windows and candles of a pair. */
export class LazyBody implements KeptFigures, EntryCandles {
  private readFigures: PairFigures | undefined
  private readWindows: PackedWindows | undefined
  private unpacked: PackedCandles | undefined
  private counted: number | undefined
  private start: number
  /** From the start. */
  private readonly figuresEnd: number
  private readonly windowsAt: number
  private readonly windowsEnd: number
  private readonly candlesAt: number
  private readonly length: number

  constructor(
    private buf: Buffer,
    private readonly read: ReadFigures,
    places: BodyPlaces,
  ) {
    const { start, figuresEnd, windows, windowsEnd, candles, end } = places
    this.start = start
    this.figuresEnd = figuresEnd - start
    this.windowsAt = windows - start
    this.windowsEnd = windowsEnd - start
    this.candlesAt = candles - start
    this.length = end - start
  }

  get figures(): PairFigures {
    this.readFigures ??= this.read(this.buf.subarray(this.start, this.start + this.figuresEnd))
    return this.readFigures
  }

  /** The figures begin with some. */
  double(index: number): number {
    return viewOf(this.buf).getFloat64(this.start + index * Float64Array.BYTES_PER_ELEMENT, true)
  }

  get isEmpty(): boolean {
    return this.windowsAt === this.windowsEnd
  }

  get windows(): PackedWindows {
    const { start, windowsAt, windowsEnd } = this
    this.readWindows ??= windowsForm.read(viewOf(this.buf), start + windowsAt, start + windowsEnd)
    return this.readWindows
  }

  get count(): number {
    this.counted ??= countCandles(viewOf(this.buf), this.start + this.candlesAt, this.start + this.length)
    return this.counted
  }

  get packed(): PackedCandles {
    this.unpacked ??= candlesForm.read(viewOf(this.buf), this.start + this.candlesAt, this.start + this.length)
    return this.unpacked
  }

  places(visit: VisitPlace): void {
    visitCandles(viewOf(this.buf), this.start + this.candlesAt, this.start + this.length, visit)
  }

  detach(): void {
    const { buf, start, length } = this
    if (buf.length === length) return
    this.buf = ownBytes(buf, start, start + length)
    this.start = 0
  }
}

/** Windows of a token, or of a pair that only got older. */
export class LazyWindows implements KeptWindows {
  private unpacked: PackedWindows | undefined

  constructor(
    private buf: Buffer,
    private start: number,
    private end: number,
  ) {}

  get isEmpty(): boolean {
    return this.start === this.end
  }

  get windows(): PackedWindows {
    this.unpacked ??= windowsForm.read(viewOf(this.buf), this.start, this.end)
    return this.unpacked
  }

  detach(): void {
    const { buf, start, end } = this
    if (buf.length === end - start) return
    this.buf = ownBytes(buf, start, end)
    this.start = 0
    this.end = end - start
  }
}

/** Not of Node's pool: a small piece would keep 8 KB of others. */
function ownBytes(buf: Buffer, start: number, end: number): Buffer {
  const own = Buffer.allocUnsafeSlow(end - start)
  buf.copy(own, 0, start, end)
  return own
}
