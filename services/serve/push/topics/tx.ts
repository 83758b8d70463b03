import type { PairUpdate, Trade, Update } from '../../../core/domain/records.js'
import type { PairState } from '../../memory/chain-state.js'
import { decimalOrEmpty } from '../../numbers/plain-decimal.js'
import { rawOrEmpty, rawToNumber } from '../../numbers/raw-decimal.js'
import { type Market, targetOf, tokenInfo } from '../../views/market.js'
import { readAddress, readCount } from '../params.js'
import type { PairPusher, Topic } from '../topic.js'

export const tx: Topic = {
  name: 'tx',
  onSlow: 'disconnect',
  parse(args, context) {
    readCount(args, ['a pair address', 'a chain'], 'tx')
    const { address, chain } = readAddress(context, args[0], args[1], 'pair address')
    const channel = txChannel(address, chain)
    return { canonical: channel, channels: [channel], chains: [chain] }
  },
}

export const txChannel = (pair: string, chain: string): string => `tx|${pair}|${chain}`

export const pushTrades: PairPusher = ({ applied, market, out, cursor }, pair, n) => {
  const channel = txChannel(pair.pair, market.state.chain)
  const state = market.state.pairs.get(pair.pair)
  if (state !== undefined && out.isWanted(channel)) {
    pair.trades.forEach((trade, index) => {
      const tx = { ...swapTx(market, state, applied.update, trade), ...ofPair(trade) }
      const result = JSON.stringify({ id: pair.pair, topic: 'tx', tx, cursor: cursor(n + index) })
      out.publish([channel], { topic: 'tx', result, mergeKey: trade.id, sentTime: true })
    })
  }
  return n + pair.trades.length
}

/** Only the pair-based push has these. */
function ofPair(trade: Trade) {
  return { profile: trade.profile === null ? '' : JSON.stringify(trade.profile), tx_seq: String(trade.tx_seq) }
}

/** A swap as both the pair-based and the token-based topic push it. */
export function swapTx(market: Market, pair: PairState, update: Pick<Update, 'number' | 'time'>, trade: Trade) {
  const target = targetOf(pair)
  const targetIs0 = pair.info.target === 0
  const quote = targetIs0 ? pair.info.token1 : pair.info.token0
  const targetSide = {
    address: target,
    info: tokenInfo(market, target),
    reserveRaw: targetIs0 ? trade.reserve0 : trade.reserve1,
    priceUsd: trade.price_usd,
    priceNative: trade.price_native,
  }
  const quoteSide = {
    address: quote,
    info: tokenInfo(market, quote),
    reserveRaw: targetIs0 ? trade.reserve1 : trade.reserve0,
    priceUsd: trade.quote_usd,
    priceNative: trade.quote_native,
  }
  const [from, to] = trade.sell ? [targetSide, quoteSide] : [quoteSide, targetSide]
  const quoteReserve = rawToNumber(quoteSide.reserveRaw, quoteSide.info.decimals)
  return {
    amm: pair.info.amm,
    amount_eth: decimalOrEmpty(trade.amount_native),
    amount_usd: decimalOrEmpty(trade.amount_usd),
    block_number: update.number,
    chain: market.state.chain,
    direction: trade.sell ? 'sell' : 'buy',
    from_address: from.address,
    from_amount: rawOrEmpty(trade.amount_in, from.info.decimals),
    from_price_eth: decimalOrEmpty(from.priceNative),
    from_price_usd: decimalOrEmpty(from.priceUsd),
    from_reserve: rawOrEmpty(from.reserveRaw, from.info.decimals),
    from_symbol: from.info.symbol ?? '',
    id: trade.id,
    pair_address: pair.pair,
    pair_liquidity_eth: decimalOrEmpty(quoteReserve * trade.quote_native),
    pair_liquidity_usd: decimalOrEmpty(quoteReserve * trade.quote_usd),
    pair_type: '',
    sender: trade.sender,
    target_token: target,
    time: update.time,
    to: trade.recipient,
    to_address: to.address,
    to_amount: rawOrEmpty(trade.amount_out, to.info.decimals),
    to_price_eth: decimalOrEmpty(to.priceNative),
    to_price_usd: decimalOrEmpty(to.priceUsd),
    to_reserve: rawOrEmpty(to.reserveRaw, to.info.decimals),
    to_symbol: to.info.symbol ?? '',
    transaction: trade.tx_hash,
    tvl: decimalOrEmpty(pair.tvl),
    tx_swap_type: trade.sell ? 1 : 0,
    wallet_address: trade.wallet,
    wallet_tag: null,
  }
}

/** Liquidity pushes take the numbers after the trades'; nothing is sent for them yet. */
export const skipLiquidity: PairPusher = (_context, pair: PairUpdate, n) => n + pair.liquidity.length
