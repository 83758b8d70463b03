import { figuresOf, type KeptFigures, type KeptWindows, windowsIn } from '../../core/domain/kept-figures.js'
import type { PackedWindows } from '../../core/domain/packed-windows.js'
import type { MovedPair, PairInfo, PairUpdate } from '../../core/domain/records.js'

type Facts = Omit<PairUpdate, 'info' | 'candles' | 'trades' | 'liquidity'>

/** A pair after its last update. Its figures are read when they are asked for. */
export class PairState implements Facts {
  /** Another state of the pair has taken its place. */
  isReplaced = false

  /** `seen_at`: chain time of that update. `updated_at` is its block's own time, which may be up to an hour behind. */
  private constructor(
    readonly pair: string,
    readonly info: PairInfo,
    private readonly kept: KeptFigures,
    /** Of a pair that only got older since. */
    private readonly later: { windows: KeptWindows; price_day_usd: number } | undefined,
    public seen_at: number,
  ) {}

  static of(entry: Facts, info: PairInfo, nowS: number): PairState {
    return new PairState(entry.pair, info, figuresOf(entry), undefined, nowS)
  }

  /** The pair as it was, at a later time. */
  at(moved: MovedPair, nowS: number): PairState {
    const later = { windows: windowsIn(moved), price_day_usd: moved.price_day_usd }
    return new PairState(this.pair, this.info, this.kept, later, nowS)
  }

  /** For a state that stays: until then its bytes keep a chunk of the log in memory. */
  detach(): void {
    this.kept.detach()
    this.later?.windows.detach()
  }

  get windows(): PackedWindows {
    return (this.later?.windows ?? this.kept).windows
  }

  get price_day_usd(): number {
    return (this.later ?? this.kept.figures).price_day_usd
  }

  get price_usd(): number {
    return this.kept.figures.price_usd
  }

  get price_native(): number {
    return this.kept.figures.price_native
  }

  get price_quote(): number {
    return this.kept.figures.price_quote
  }

  get last_price_usd(): number {
    return this.kept.figures.last_price_usd
  }

  get quote_usd(): number {
    return this.kept.figures.quote_usd
  }

  get open_price_usd(): number {
    return this.kept.figures.open_price_usd
  }

  get ath_usd(): number {
    return this.kept.figures.ath_usd
  }

  get reserve0(): string | null {
    return this.kept.figures.reserve0
  }

  get reserve1(): string | null {
    return this.kept.figures.reserve1
  }

  get init_reserve0(): string | null {
    return this.kept.figures.init_reserve0
  }

  get init_reserve1(): string | null {
    return this.kept.figures.init_reserve1
  }

  get tvl(): number {
    return this.kept.figures.tvl
  }

  get liquidity_usd(): number {
    return this.kept.figures.liquidity_usd
  }

  get liquidity_native(): number {
    return this.kept.figures.liquidity_native
  }

  get tx_count(): number {
    return this.kept.figures.tx_count
  }

  get first_trade_at(): number {
    return this.kept.figures.first_trade_at
  }

  get first_trade_block(): number {
    return this.kept.figures.first_trade_block
  }

  get last_trade_at(): number {
    return this.kept.figures.last_trade_at
  }

  get updated_at(): number {
    return this.kept.figures.updated_at
  }
}
