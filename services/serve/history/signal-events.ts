/** Signals with the events that made them. */
import type { SignalType } from '../signals/signal-rules.js'
import type { Place } from './event-order.js'
import { type StoredRow, tradeOf } from './stored-rows.js'

/** An event that made a signal. */
export type SignalAction = Place & {
  id: string
  tx_hash: string
  wallet: string
  pair: string
  amountUsd: number
  /** Of the target; NaN: unknown. */
  priceUsd: number
  /** Raw, of the quote token; null: a liquidity event. */
  quoteRaw: string | null
  /** Of a trade. */
  isSell: boolean
}

/** A signal is named after its last event. */
export type SignalEvent = SignalAction & {
  type: SignalType
  /** The other events that made it, in order. */
  earlier: readonly SignalAction[]
  /** What the rule measured. */
  totalUsd: number
}

/** Which events a list of signals is read from. */
export type SignalRange = { chain: string; from: number; upTo: number }

export function tradeAction(row: StoredRow): SignalAction {
  const trade = tradeOf(row)
  return {
    ...trade,
    pair: String(row.pair),
    ...{ amountUsd: trade.amount_usd, priceUsd: trade.price_usd },
    isSell: trade.sell,
    quoteRaw: trade.sell ? trade.amount_out : trade.amount_in,
  }
}
