/** Rebuilds the state from updates, as any consumer of the topic would. */
import type { FoldResult } from '../../../services/aggregate/fold/block-changes.js'
import type {
  Candle,
  PairInfo,
  PairUpdate,
  TokenInfo,
  TokenUpdate,
  Trade,
  Update,
} from '../../../services/core/domain/records.js'

export type ReadTrade = Trade & { pair: string; block_number: number; time: number }

export class Reader {
  readonly trades = new Map<string, ReadTrade>()
  readonly candles = new Map<string, Candle>()
  readonly pairs = new Map<string, PairUpdate & { info: PairInfo }>()
  readonly tokens = new Map<string, TokenUpdate & { info: TokenInfo }>()
  readonly holders = new Map<string, bigint>()
  readonly mainPairs = new Map<string, string | null>()
  last: Update | null = null

  read({ update, holders }: Pick<FoldResult, 'update' | 'holders'>): void {
    this.last = update
    for (const { pair, ids, gone } of update.retracted) {
      for (const id of ids) this.trades.delete(`${pair}|${id}`)
      if (gone) this.forgetPair(pair)
    }
    for (const token of update.gone_tokens) this.tokens.delete(token)
    for (const entry of update.pairs) this.readPair(entry, update)
    for (const entry of update.tokens) {
      const info = entry.info ?? this.tokens.get(entry.token)?.info
      if (info === undefined) throw new Error(`token ${entry.token} was never described`)
      this.tokens.set(entry.token, { ...entry, info })
    }
    for (const { token, new_pair: next } of update.main_pair_changes) this.mainPairs.set(token, next)
    for (const { token, holder, balance } of holders) {
      if (balance === null) this.holders.delete(`${token}|${holder}`)
      else this.holders.set(`${token}|${holder}`, BigInt(balance))
    }
  }

  private readPair(entry: PairUpdate, update: Update): void {
    const info = entry.info ?? this.pairs.get(entry.pair)?.info
    if (info === undefined) throw new Error(`pair ${entry.pair} was never described`)
    this.pairs.set(entry.pair, { ...entry, info, candles: [], trades: [], liquidity: [] })
    for (const candle of entry.candles) {
      const key = `${entry.pair}|${candle.interval}|${candle.time}`
      if (candle.removed) this.candles.delete(key)
      else this.candles.set(key, candle)
    }
    for (const trade of entry.trades) {
      const place = { pair: entry.pair, block_number: update.number, time: update.time }
      this.trades.set(`${entry.pair}|${trade.id}`, { ...trade, ...place })
    }
  }

  private forgetPair(pair: string): void {
    this.pairs.delete(pair)
    for (const key of this.candles.keys()) if (key.startsWith(`${pair}|`)) this.candles.delete(key)
  }
}
