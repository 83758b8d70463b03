/** Rebuilds the state from updates, as any consumer of the topic would. */
import type { FoldResult } from '../../../services/aggregate/fold/block-changes.js'
import type { HourFigures } from '../../../services/aggregate/fold/pair-hours.js'
import { type Candle, unpackCandles } from '../../../services/core/domain/packed-candles.js'
import { type PackedWindows, unpackWindows, type Window } from '../../../services/core/domain/packed-windows.js'
import type {
  BlockUpdate,
  PairInfo,
  PairUpdate,
  TokenInfo,
  TokenUpdate,
  Trade,
} from '../../../services/core/domain/records.js'

/** A pair or token with its windows as objects. */
export type ReadPair = Omit<PairUpdate, 'candles' | 'trades' | 'liquidity' | 'windows'> & {
  info: PairInfo
  windows: Window[]
}
export type ReadToken = Omit<TokenUpdate, 'windows'> & { info: TokenInfo; windows: Window[] }

export type ReadTrade = Trade & { pair: string; block_number: number; time: number }

type Readable = Pick<FoldResult, 'update' | 'holders' | 'pairHours' | 'holderHours'>

export class Reader {
  readonly trades = new Map<string, ReadTrade>()
  readonly candles = new Map<string, Candle>()
  readonly pairs = new Map<string, ReadPair>()
  readonly tokens = new Map<string, ReadToken>()
  readonly holders = new Map<string, bigint>()
  readonly pairHours = new Map<string, HourFigures>()
  /** Holders at the end of each hour in which their number changed, keyed `token|hour`. */
  readonly holderHours = new Map<string, number>()
  readonly mainPairs = new Map<string, string | null>()
  last: BlockUpdate | null = null

  read({ update, holders, pairHours, holderHours }: Readable): void {
    this.last = update
    for (const { pair, hourS, figures } of pairHours) {
      if (figures === null) this.pairHours.delete(`${pair}|${hourS}`)
      else this.pairHours.set(`${pair}|${hourS}`, figures)
    }
    for (const { token, hourS, holders: count } of holderHours) {
      if (count === null) this.holderHours.delete(`${token}|${hourS}`)
      else this.holderHours.set(`${token}|${hourS}`, count)
    }
    for (const { pair, ids, gone } of update.retracted) {
      for (const id of ids) this.trades.delete(`${pair}|${id}`)
      if (gone) this.forgetPair(pair)
    }
    for (const token of update.gone_tokens) this.tokens.delete(token)
    for (const entry of update.pairs) this.readPair(entry, update)
    for (const { pair, price_day_usd, windows } of update.moved_pairs) {
      const known = this.pairs.get(pair)
      if (known === undefined) throw new Error(`pair ${pair} was never described`)
      this.pairs.set(pair, { ...known, price_day_usd, windows: unpackWindows(windows) })
    }
    for (const entry of update.tokens) {
      const info = entry.info ?? this.tokens.get(entry.token)?.info
      if (info === undefined) throw new Error(`token ${entry.token} was never described`)
      this.tokens.set(entry.token, { ...entry, info, windows: this.windowsOf(entry.windows, entry.main_pair) })
    }
    for (const { token, windows } of update.moved_tokens) {
      const known = this.tokens.get(token)
      if (known === undefined) throw new Error(`token ${token} was never described`)
      this.tokens.set(token, { ...known, windows: this.windowsOf(windows, known.main_pair) })
    }
    for (const { token, new_pair: next } of update.main_pair_changes) this.mainPairs.set(token, next)
    for (const { of, raw } of holders) {
      const { token, holder } = of
      if (raw === null) this.holders.delete(`${token}|${holder}`)
      else this.holders.set(`${token}|${holder}`, raw)
    }
  }

  /** Empty: those of the main pair. */
  private windowsOf(windows: PackedWindows, mainPair: string | null): Window[] {
    if (windows.length > 0) return unpackWindows(windows)
    const main = this.pairs.get(mainPair ?? '')
    if (main === undefined) throw new Error(`no windows, and pair ${mainPair} was never described`)
    return main.windows
  }

  private readPair(entry: PairUpdate, update: BlockUpdate): void {
    const info = entry.info ?? this.pairs.get(entry.pair)?.info
    if (info === undefined) throw new Error(`pair ${entry.pair} was never described`)
    const { candles, trades, liquidity: _liquidity, ...state } = entry
    this.pairs.set(entry.pair, { ...state, info, windows: unpackWindows(entry.windows) })
    for (const candle of unpackCandles(candles)) {
      const key = `${entry.pair}|${candle.interval}|${candle.time}`
      if (candle.removed) this.candles.delete(key)
      else this.candles.set(key, candle)
    }
    for (const trade of trades) {
      const place = { pair: entry.pair, block_number: update.number, time: update.time }
      this.trades.set(`${entry.pair}|${trade.id}`, { ...trade, ...place })
    }
  }

  private forgetPair(pair: string): void {
    this.pairs.delete(pair)
    for (const key of this.candles.keys()) if (key.startsWith(`${pair}|`)) this.candles.delete(key)
  }
}
