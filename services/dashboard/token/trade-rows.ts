/** Trades and liquidity events as rows, whether they were pushed or read. */
import type { LiquidityEvent, PushedLiquidityEvent, PushedSwap, PushedTokenSwap, Swap } from '@dextape/client'

export type TradeRow = {
  id: string
  timeS: number
  block: number
  isBuy: boolean
  priceUsd: string | null
  amount: string | null
  valueUsd: string | null
  wallet: string
  tx: string
  isRemoved: boolean
}

export function readTrade(swap: Swap, target: string): TradeRow {
  const isBuy = swap.to_token_address === target
  return {
    ...{ id: swap.id, timeS: swap.tx_time, block: swap.block_number, isBuy, valueUsd: swap.amount_usd },
    priceUsd: isBuy ? swap.to_token_price_usd : swap.from_token_price_usd,
    amount: isBuy ? swap.to_token_amount : swap.from_token_amount,
    ...{ wallet: swap.wallet_address, tx: swap.tx_hash, isRemoved: false },
  }
}

export function pushedTrade(swap: PushedSwap | PushedTokenSwap): TradeRow {
  const isBuy = swap.direction === 'buy'
  return {
    ...{ id: swap.id, timeS: swap.time, block: swap.block_number, isBuy, valueUsd: swap.amount_usd },
    priceUsd: isBuy ? swap.to_price_usd : swap.from_price_usd,
    amount: isBuy ? swap.to_amount : swap.from_amount,
    ...{ wallet: swap.wallet_address, tx: swap.transaction, isRemoved: false },
  }
}

export type LiquidityRow = Pick<
  LiquidityEvent,
  'id' | 'type' | 'amount0' | 'amount1' | 'amount_usd' | 'token0_symbol' | 'token1_symbol' | 'wallet_address'
> & { timeS: number; block: number; isRemoved: boolean }

export function liquidityRow(event: LiquidityEvent | PushedLiquidityEvent): LiquidityRow {
  return { ...event, timeS: event.tx_time, block: event.block_number, isRemoved: false }
}

type Listed = { id: string; timeS: number; block: number; isRemoved: boolean }

/** Newest first, each id once: a row that comes again replaces the earlier one. */
export function addRows<Row extends Listed>(rows: readonly Row[], added: readonly Row[]): Row[] {
  const ids = new Set(added.map(({ id }) => id))
  const all = [...added, ...rows.filter(({ id }) => !ids.has(id))]
  return all.sort((a, b) => b.block - a.block || b.timeS - a.timeS || indexOf(b) - indexOf(a))
}

/** Ids are block and position: `38207334-8`. */
const indexOf = ({ id }: Listed): number => Number(id.split('-')[1] ?? 0)

export function markRemoved<Row extends Listed>(rows: readonly Row[], ids: readonly string[]): Row[] {
  return rows.map((row) => (ids.includes(row.id) ? { ...row, isRemoved: true } : row))
}
