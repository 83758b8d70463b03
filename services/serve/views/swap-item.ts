import { Type } from '@sinclair/typebox'
import type { Trade } from '../../core/domain/records.js'
import type { PairState } from '../memory/served-chain.js'
import type { Placed } from '../memory/event-overlay.js'
import { decimalOrNull, rawOrNull, rawToNumber } from './field-formats.js'
import { type Market, quoteOf, targetOf, tokenInfo } from './market-facts.js'
import { decimal, fieldsOf, int, text, textOrNull } from './schema.js'

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

/** A swap as history tells it. The target's price is the executed one, the quote's its price before the swap. */
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
  const [from, to] = trade.sell ? [target, quote] : [quote, target]
  const quoteReserve = rawToNumber(quote.reserveRaw, tokenInfo(market, quote.address).decimals)
  return {
    id: trade.id,
    tx_hash: trade.tx_hash,
    tx_time: trade.timeS,
    block_number: trade.blockNumber,
    chain: market.state.chain,
    amm: pair.info.amm,
    pair_address: pair.pair,
    ...sideFields(market, 'from', from, trade.amount_in),
    ...sideFields(market, 'to', to, trade.amount_out),
    amount_usd: decimalOrNull(trade.amount_usd),
    pair_liquidity_usd: decimalOrNull(quoteReserve * trade.quote_usd),
    sender_address: trade.sender,
    to_address: trade.recipient,
    wallet_address: trade.wallet,
    wallet_tag: null,
  }
}

type Side = { address: string; priceUsd: number; reserveRaw: string | null }

function sideFields(market: Market, name: 'from' | 'to', side: Side, amountRaw: string) {
  const { symbol, decimals } = tokenInfo(market, side.address)
  return {
    [`${name}_token_address`]: side.address,
    [`${name}_token_symbol`]: symbol ?? '',
    [`${name}_token_amount`]: rawOrNull(amountRaw, decimals),
    [`${name}_token_price_usd`]: decimalOrNull(side.priceUsd),
    [`${name}_token_reserve`]: rawOrNull(side.reserveRaw, decimals),
  }
}
