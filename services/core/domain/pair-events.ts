/**
 * What an update says a block did to a pair. Of a decoded update, each part is read from its bytes when it is first asked for:
 * without a request or a subscription most of it never is.
 */
import { AT, CANDLE_WIDTH, candleCount, type PackedCandle, type PackedCandles } from './packed-candles.js'
import type { LiquidityTrade, PairUpdate, Trade } from './records.js'

export interface PairEvents {
  readonly trades: Trade[]
  readonly liquidity: LiquidityTrade[]
  readonly candles: EntryCandles
  /** Known without reading the events. */
  readonly tradeCount: number
  readonly liquidityCount: number
  /** How many bytes of the log stay in memory because of them. */
  readonly bytes: number
}

/** The candles of a pair's entry. */
export interface EntryCandles {
  readonly count: number
  readonly packed: PackedCandles
  /** Calls with the place of each candle, without reading its figures. */
  places(visit: VisitPlace): void
  /** Keeps nothing of the update in memory but these candles. */
  detach(): void
}

export type VisitPlace = (index: number, interval: number, timeS: number, isRemoved: boolean) => void

/** Of an entry of `codec.decodeLazily`, what it was read with; of any other, its own lists. */
export function eventsOf(entry: PairUpdate): PairEvents {
  return (entry as { events?: PairEvents }).events ?? new ReadEvents(entry)
}

class ReadEvents implements PairEvents {
  readonly trades: Trade[]
  readonly liquidity: LiquidityTrade[]
  readonly candles: EntryCandles
  readonly bytes = 0

  constructor({ trades, liquidity, candles }: PairUpdate) {
    this.trades = trades
    this.liquidity = liquidity
    this.candles = new UnpackedCandles(candles)
  }

  get tradeCount(): number {
    return this.trades.length
  }

  get liquidityCount(): number {
    return this.liquidity.length
  }
}

export class UnpackedCandles implements EntryCandles {
  constructor(readonly packed: PackedCandles) {}

  get count(): number {
    return candleCount(this.packed)
  }

  places(visit: VisitPlace): void {
    const { packed } = this
    for (let at = 0, index = 0; at < packed.length; at += CANDLE_WIDTH, index += 1)
      visit(index, packed[at + AT.interval] as number, packed[at + AT.timeS] as number, packed[at + AT.removed] === 1)
  }

  detach(): void {}
}

/** One candle of an entry. */
export class EntryCandle implements PackedCandle {
  constructor(
    private readonly candles: EntryCandles,
    private readonly index: number,
  ) {}

  get data(): PackedCandles {
    return this.candles.packed
  }

  get at(): number {
    return this.index * CANDLE_WIDTH
  }
}
