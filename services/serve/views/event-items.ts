import { Type } from '@sinclair/typebox'
import type { LiquidityKind, LiquidityTrade, PairInfo, TokenInfo } from '../../core/domain/records.js'
import type { Placed } from '../memory/event-overlay.js'
import { decimalOrNull, rawOrNull } from './field-formats.js'
import { decimal, fieldsOf, int, text } from './schema.js'

/** The interface's words for what the log calls create, add and remove. */
export const LIQUIDITY_TYPES = {
  create: 'createPair',
  add: 'addLiquidity',
  remove: 'removeLiquidity',
} as const satisfies Record<LiquidityKind, string>

/** `quantity` is how an amount or price is told that may be unknown. */
export const liquidityFields = <Quantity>(quantity: Quantity) => ({
  ...fieldsOf(['id', 'transaction', 'chain', 'amm', 'pair_address', 'sender', 'wallet_address'], text),
  type: Type.Union(Object.values(LIQUIDITY_TYPES).map((word) => Type.Literal(word))),
  ...fieldsOf(['tx_time', 'block_number'], int),
  ...fieldsOf(['amount0', 'amount1', 'amount_eth', 'amount_usd', 'token0_price_usd', 'token1_price_usd'], quantity),
  ...fieldsOf(['token0_address', 'token0_symbol', 'token1_address', 'token1_symbol'], text),
})

export const LiquidityItem = Type.Object(liquidityFields(decimal))

/** A pair with what is said of its tokens. */
export type LiquidityPlace = {
  chain: string
  pair: { pair: string; info: PairInfo }
  info0: TokenInfo
  info1: TokenInfo
}

/** A liquidity event as history lists it and as `liq` pushes it. */
export function liquidityItem({ chain, pair, info0, info1 }: LiquidityPlace, event: Placed<LiquidityTrade>) {
  const { amm, token0, token1 } = pair.info
  return {
    id: event.id,
    type: LIQUIDITY_TYPES[event.kind],
    transaction: event.tx_hash,
    tx_time: event.timeS,
    block_number: event.blockNumber,
    chain,
    amm,
    pair_address: pair.pair,
    amount0: rawOrNull(event.amount0, info0.decimals),
    amount1: rawOrNull(event.amount1, info1.decimals),
    amount_eth: decimalOrNull(event.amount_native),
    amount_usd: decimalOrNull(event.amount_usd),
    token0_address: token0,
    token0_symbol: info0.symbol ?? '',
    token0_price_usd: decimalOrNull(event.price0_usd),
    token1_address: token1,
    token1_symbol: info1.symbol ?? '',
    token1_price_usd: decimalOrNull(event.price1_usd),
    sender: event.sender,
    wallet_address: event.wallet,
  }
}
