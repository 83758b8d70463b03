import { Type } from '@sinclair/typebox'
import type { LiquidityKind, LiquidityTrade, PairInfo, TokenInfo } from '../../../core/domain/records.js'
import { decimalOrEmpty } from '../../numbers/plain-decimal.js'
import { rawOrEmpty } from '../../numbers/raw-decimal.js'
import { fieldsOf, int, text } from '../../views/schema.js'

/** The interface's words for what happened to a pool's liquidity. */
export const LIQUIDITY_TYPES = {
  create: 'createPair',
  add: 'addLiquidity',
  remove: 'removeLiquidity',
} as const satisfies Record<LiquidityKind, string>

/** A liquidity event as history lists it and as `liq` pushes it; amounts with decimals applied, `""` where unknown. */
export const LiquidityItem = Type.Object({
  type: Type.Union(Object.values(LIQUIDITY_TYPES).map((word) => Type.Literal(word))),
  ...fieldsOf(['amount0', 'amount1', 'amount_eth', 'amount_usd'], text),
  ...fieldsOf(['token0_address', 'token0_symbol', 'token0_price_usd'], text),
  ...fieldsOf(['token1_address', 'token1_symbol', 'token1_price_usd'], text),
  ...fieldsOf(['tx_time', 'block_number'], int),
  ...fieldsOf(['transaction', 'sender', 'wallet_address', 'amm', 'chain'], text),
})

/** What an event says, whether it comes from an update or from the store. */
export type LiquidityFacts = Pick<
  LiquidityTrade,
  | 'kind'
  | 'tx_hash'
  | 'sender'
  | 'wallet'
  | 'amount0'
  | 'amount1'
  | 'amount_usd'
  | 'amount_native'
  | 'price0_usd'
  | 'price1_usd'
> & { timeS: number; blockNumber: number }

export type LiquidityPlace = {
  chain: string
  info: Pick<PairInfo, 'amm' | 'token0' | 'token1'>
  info0: Pick<TokenInfo, 'symbol' | 'decimals'>
  info1: Pick<TokenInfo, 'symbol' | 'decimals'>
}

export function liquidityItem({ chain, info, info0, info1 }: LiquidityPlace, event: LiquidityFacts) {
  return {
    type: LIQUIDITY_TYPES[event.kind],
    amount0: rawOrEmpty(event.amount0, info0.decimals),
    amount1: rawOrEmpty(event.amount1, info1.decimals),
    amount_eth: decimalOrEmpty(event.amount_native),
    amount_usd: decimalOrEmpty(event.amount_usd),
    token0_address: info.token0,
    token0_symbol: info0.symbol ?? '',
    token0_price_usd: decimalOrEmpty(event.price0_usd),
    token1_address: info.token1,
    token1_symbol: info1.symbol ?? '',
    token1_price_usd: decimalOrEmpty(event.price1_usd),
    tx_time: event.timeS,
    block_number: event.blockNumber,
    transaction: event.tx_hash,
    sender: event.sender,
    wallet_address: event.wallet,
    amm: info.amm,
    chain,
  }
}
