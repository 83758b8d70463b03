/** Rows as the store has them: of trades and liquidity events, and the values of any. */
import type { LiquidityKind, LiquidityTrade, Trade } from '../../core/domain/records.js'
import type { Placed } from '../memory/event-overlay.js'

/** 64-bit integers arrive as text, unknown numbers as null. */
export type StoredRow = Record<string, string | number | null>

const PLACE = ['tx_index', 'log_index', 'sub', 'tx_hash', 'id'] as const

export const TRADE_COLUMNS = [
  ...PLACE,
  ...(['tx_seq', 'sell', 'sender', 'recipient', 'wallet', 'amount_in', 'amount_out', 'reserve0', 'reserve1'] as const),
  ...(['price_usd', 'price_native', 'price_quote', 'quote_usd', 'quote_native', 'amount_usd'] as const),
  ...(['amount_native', 'flags', 'quote_path'] as const),
]

export const LIQUIDITY_COLUMNS = [
  ...PLACE,
  ...(['kind', 'sender', 'wallet', 'amount0', 'amount1', 'reserve0', 'reserve1', 'amount_usd'] as const),
  ...(['amount_native', 'price0_usd', 'price1_usd'] as const),
]

export function tradeOf(row: StoredRow): Placed<Trade> {
  return {
    ...placeOf(row),
    tx_seq: Number(row.tx_seq),
    sell: Number(row.sell) === 1,
    ...{ sender: String(row.sender), recipient: String(row.recipient), wallet: String(row.wallet) },
    ...{ amount_in: String(row.amount_in), amount_out: String(row.amount_out) },
    ...{ reserve0: rawOf(row.reserve0), reserve1: rawOf(row.reserve1) },
    price_usd: numberOf(row.price_usd),
    price_native: numberOf(row.price_native),
    price_quote: numberOf(row.price_quote),
    quote_usd: numberOf(row.quote_usd),
    quote_native: numberOf(row.quote_native),
    amount_usd: numberOf(row.amount_usd),
    amount_native: numberOf(row.amount_native),
    flags: Number(row.flags),
    quote_path: String(row.quote_path),
    profile: null,
  }
}

export function liquidityOf(row: StoredRow): Placed<LiquidityTrade> {
  return {
    ...placeOf(row),
    kind: String(row.kind) as LiquidityKind,
    ...{ sender: String(row.sender), wallet: String(row.wallet) },
    ...{ amount0: String(row.amount0), amount1: String(row.amount1) },
    ...{ reserve0: rawOf(row.reserve0), reserve1: rawOf(row.reserve1) },
    amount_usd: numberOf(row.amount_usd),
    amount_native: numberOf(row.amount_native),
    price0_usd: numberOf(row.price0_usd),
    price1_usd: numberOf(row.price1_usd),
  }
}

/** A time as a parameter of a query. */
export function clampS(timeS: number): number {
  return Math.min(Math.max(timeS, 0), 0xffff_ffff)
}

export function placeOf(row: StoredRow) {
  return {
    ...{ timeS: Number(row.time_s), blockNumber: Number(row.block_number) },
    ...{ tx_index: Number(row.tx_index), log_index: Number(row.log_index), sub: Number(row.sub) },
    ...{ tx_hash: String(row.tx_hash), id: String(row.id) },
  }
}

export function numberOf(value: string | number | null | undefined): number {
  return value === null || value === undefined ? Number.NaN : Number(value)
}

function rawOf(value: string | number | null | undefined): string | null {
  return value === '' || value === null || value === undefined ? null : String(value)
}
