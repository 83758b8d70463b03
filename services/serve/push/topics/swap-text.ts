/**
 * A swap as JSON text. Swaps are most of what is pushed, so their text is put together from the parts that only the pair
 * decides, which are kept, and the figures of the swap.
 */
import type { TokenInfo, Trade } from '../../../core/domain/records.js'
import {
  decimalOrEmpty,
  escapedText,
  isPlainText,
  quotedText,
  rawOrEmpty,
  rawToNumber,
} from '../../views/field-formats.js'
import { quoteOf, targetOf } from '../../views/market-facts.js'
import { perPairAndTokens } from '../per-pair.js'
import type { PairSnapshot, UpdateSnapshot } from '../update-snapshot.js'

/**
 * A push's `result` up to the fields that only one topic has. Concatenated, which allocates no text until the bytes of the whole push are
 * written: joining an array of the parts takes twice as long.
 */
export function swapText(at: PairSnapshot, { number, timeS }: SwapBlock, trade: Trade): string {
  const parts = partsOf(at)[trade.sell ? 'sell' : 'buy']
  const targetIs0 = at.pair.info.target === 0
  const targetReserve = targetIs0 ? trade.reserve0 : trade.reserve1
  const quoteReserve = targetIs0 ? trade.reserve1 : trade.reserve0
  const quoteAmount = rawToNumber(quoteReserve, (targetIs0 ? at.info1 : at.info0).decimals)
  const priceEth = decimalOrEmpty(trade.price_native)
  const priceUsd = decimalOrEmpty(trade.price_usd)
  const quoteEth = decimalOrEmpty(trade.quote_native)
  const quoteUsd = decimalOrEmpty(trade.quote_usd)
  const { fromDecimals, toDecimals } = parts
  const fromReserve = rawOrEmpty(trade.sell ? targetReserve : quoteReserve, fromDecimals)
  const toReserve = rawOrEmpty(trade.sell ? quoteReserve : targetReserve, toDecimals)
  const { id, sender, recipient, tx_hash, wallet } = trade
  // One look at all of them: hardly ever has one anything to escape.
  const inner = isPlainText(id + sender + recipient + tx_hash + wallet) ? asIs : escapedText
  return (
    parts.beforeAmounts +
    decimalOrEmpty(trade.amount_native) +
    '","amount_usd":"' +
    decimalOrEmpty(trade.amount_usd) +
    '","block_number":' +
    number +
    parts.from +
    rawOrEmpty(trade.amount_in, fromDecimals) +
    '","from_price_eth":"' +
    (trade.sell ? priceEth : quoteEth) +
    '","from_price_usd":"' +
    (trade.sell ? priceUsd : quoteUsd) +
    '","from_reserve":"' +
    fromReserve +
    parts.fromSymbol +
    inner(id) +
    parts.pair +
    decimalOrEmpty(quoteAmount * trade.quote_native) +
    '","pair_liquidity_usd":"' +
    decimalOrEmpty(quoteAmount * trade.quote_usd) +
    '","pair_type":"","sender":"' +
    inner(sender) +
    parts.target +
    timeS +
    ',"to":"' +
    inner(recipient) +
    parts.to +
    rawOrEmpty(trade.amount_out, toDecimals) +
    '","to_price_eth":"' +
    (trade.sell ? quoteEth : priceEth) +
    '","to_price_usd":"' +
    (trade.sell ? quoteUsd : priceUsd) +
    '","to_reserve":"' +
    toReserve +
    parts.toSymbol +
    inner(tx_hash) +
    '","tvl":"' +
    decimalOrEmpty(at.pair.tvl) +
    parts.type +
    inner(wallet) +
    '","wallet_tag":null'
  )
}

export type SwapBlock = Pick<UpdateSnapshot, 'number' | 'timeS'>

const asIs = (text: string): string => text

/** The `result` of a `multi_tx` push. */
export function swapResult(swap: string, cursor: string): string {
  return `${swap}},"cursor":"${cursor}"}`
}

/** The `result` of a `tx` push, which has two more fields. */
export function pairSwapResult(swap: string, { profile, tx_seq }: Trade, cursor: string): string {
  const profileText = profile === null ? '""' : JSON.stringify(JSON.stringify(profile))
  return `${swap},"profile":${profileText},"tx_seq":"${tx_seq}"},"cursor":"${cursor}"}`
}

type Side = { address: string; info: TokenInfo }

const partsOf = perPairAndTokens((at) => {
  const targetIs0 = at.pair.info.target === 0
  const target = { address: targetOf(at.pair), info: targetIs0 ? at.info0 : at.info1 }
  const quote = { address: quoteOf(at.pair), info: targetIs0 ? at.info1 : at.info0 }
  return { buy: partsBetween(at, quote, target, target, false), sell: partsBetween(at, target, quote, target, true) }
})

function partsBetween({ chain, pair }: PairSnapshot, from: Side, to: Side, target: Side, isSell: boolean) {
  const { amm } = pair.info
  const [pairText, chainText, targetText] = [pair.pair, chain, target.address].map(quotedText)
  const direction = isSell ? 'sell' : 'buy'
  return {
    fromDecimals: from.info.decimals,
    toDecimals: to.info.decimals,
    beforeAmounts: `{"id":${pairText},"topic":"tx","tx":{"amm":${quotedText(amm)},"amount_eth":"`,
    from: `,"chain":${chainText},"direction":"${direction}","from_address":${quotedText(from.address)},"from_amount":"`,
    fromSymbol: `","from_symbol":${quotedText(from.info.symbol ?? '')},"id":"`,
    pair: `","pair_address":${pairText},"pair_liquidity_eth":"`,
    target: `","target_token":${targetText},"time":`,
    to: `","to_address":${quotedText(to.address)},"to_amount":"`,
    toSymbol: `","to_symbol":${quotedText(to.info.symbol ?? '')},"transaction":"`,
    type: `","tx_swap_type":${isSell ? 1 : 0},"wallet_address":"`,
  }
}
