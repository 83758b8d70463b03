import { Type } from '@sinclair/typebox'
import type { LiquidityKind, LiquidityTrade, PairInfo, TokenInfo, Trade } from '../../core/domain/records.js'
import type { Placed } from '../memory/event-overlay.js'
import type { PairState } from '../memory/served-chain.js'
import { decimal, decimalOrNull, fieldsOf, int, rawOrNull, rawToNumber, text, textOrNull } from './field-formats.js'
import { type Market, quoteOf, targetOf, tokenInfo } from './market-facts.js'

/** Names in the interface for the log's create, add and remove. */
export const LIQUIDITY_TYPES = {
  create: 'createPair',
  add: 'addLiquidity',
  remove: 'removeLiquidity',
} as const satisfies Record<LiquidityKind, string>

/** `quantity`: the field type of amounts and prices that may be unknown. */
export const liquidityFields = <Quantity>(quantity: Quantity) => ({
  ...fieldsOf(['id', 'transaction', 'chain', 'amm', 'pair', 'pair_address', 'sender', 'wallet_address'], text),
  type: Type.Union(Object.values(LIQUIDITY_TYPES).map((type) => Type.Literal(type))),
  ...fieldsOf(['tx_time', 'block_number'], int),
  ...fieldsOf(['amount0', 'amount1', 'amount_eth', 'amount_usd', 'token0_price_usd', 'token1_price_usd'], quantity),
  ...fieldsOf(['token0_address', 'token0_symbol', 'token1_address', 'token1_symbol'], text),
})

export const LiquidityItem = Type.Object(liquidityFields(decimal))

/** A pair with the info of its tokens. */
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
    pair: pair.pair,
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

const sideSchema = (side: 'from' | 'to') => ({
  ...fieldsOf([`${side}_token_address`, `${side}_token_symbol`], text),
  ...fieldsOf([`${side}_token_amount`, `${side}_token_price_usd`, `${side}_token_reserve`], decimal),
})

export const SwapItem = Type.Object({
  ...fieldsOf(['id', 'tx_hash', 'chain', 'amm', 'pair_address'], text),
  ...fieldsOf(['tx_time', 'block_number'], int),
  ...sideSchema('from'),
  ...sideSchema('to'),
  ...fieldsOf(['amount_usd', 'pair_liquidity_usd'], decimal),
  ...fieldsOf(['sender_address', 'to_address', 'wallet_address'], text),
  wallet_tag: textOrNull,
})

/** A swap of the history. The target's price is the executed one; the quote's is its price before the swap. */
export function swapItem(market: Market, pair: PairState, trade: Placed<Trade>) {
  const targetIs0 = pair.info.target === 0
  const target = {
    address: targetOf(pair),
    priceUsd: trade.price_usd,
    reserveRaw: targetIs0 ? trade.reserve0 : trade.reserve1,
  }
  const quote = {
    address: quoteOf(pair),
    priceUsd: trade.quote_usd,
    reserveRaw: targetIs0 ? trade.reserve1 : trade.reserve0,
  }
  const targetInfo = tokenInfo(market, target.address)
  const quoteInfo = tokenInfo(market, quote.address)
  const from = trade.sell ? target : quote
  const to = trade.sell ? quote : target
  const fromInfo = trade.sell ? targetInfo : quoteInfo
  const toInfo = trade.sell ? quoteInfo : targetInfo
  const quoteReserve = rawToNumber(quote.reserveRaw, quoteInfo.decimals)
  return {
    id: trade.id,
    tx_hash: trade.tx_hash,
    tx_time: trade.timeS,
    block_number: trade.blockNumber,
    chain: market.state.chain,
    amm: pair.info.amm,
    pair_address: pair.pair,
    from_token_address: from.address,
    from_token_symbol: fromInfo.symbol ?? '',
    from_token_amount: rawOrNull(trade.amount_in, fromInfo.decimals),
    from_token_price_usd: decimalOrNull(from.priceUsd),
    from_token_reserve: rawOrNull(from.reserveRaw, fromInfo.decimals),
    to_token_address: to.address,
    to_token_symbol: toInfo.symbol ?? '',
    to_token_amount: rawOrNull(trade.amount_out, toInfo.decimals),
    to_token_price_usd: decimalOrNull(to.priceUsd),
    to_token_reserve: rawOrNull(to.reserveRaw, toInfo.decimals),
    amount_usd: decimalOrNull(trade.amount_usd),
    pair_liquidity_usd: decimalOrNull(quoteReserve * trade.quote_usd),
    sender_address: trade.sender,
    to_address: trade.recipient,
    wallet_address: trade.wallet,
    wallet_tag: null,
  }
}
