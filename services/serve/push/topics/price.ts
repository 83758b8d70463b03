import type { PairState } from '../../memory/chain-state.js'
import { changeOrEmpty } from '../../numbers/change.js'
import { decimalOrEmpty } from '../../numbers/plain-decimal.js'
import { rawOrEmpty } from '../../numbers/raw-decimal.js'
import { dayPrice, type Market, targetOf, tokenInfo } from '../../views/market.js'
import { changeOver, pairWindow } from '../../views/pair-windows.js'
import { badParams, readCount, readId, readMaxItems } from '../params.js'
import type { PairPusher, Topic } from '../topic.js'

export const price: Topic = {
  name: 'price',
  onSlow: 'conflate',
  parse(args, context) {
    readCount(args, ['one array of token-ids and pair-ids'], 'price')
    const [ids] = args
    if (!Array.isArray(ids) || ids.length === 0) throw badParams('price takes an array of at least one id.')
    readMaxItems(context, ids.length)
    const read = ids.map((id) => readId(context, id))
    const channels = [...new Set(read.map(({ address, chain }) => priceChannel(address, chain)))]
    return {
      canonical: `price|${[...channels].sort().join()}`,
      channels,
      chains: [...new Set(read.map(({ chain }) => chain))],
    }
  },
}

/** Token and pair addresses of a chain share the name: an id is one or the other. */
export const priceChannel = (address: string, chain: string): string => `price|${address}|${chain}`

/** A trade, or a reorg that moved the price: told to those who asked for the pair, and for the token whose main pair it is. */
export const pushPrice: PairPusher = ({ applied, market, out, cursor }, pair, n) => {
  const state = market.state.pairs.get(pair.pair)
  if (state === undefined || (pair.trades.length === 0 && !applied.priceMoved.has(pair.pair))) return n + 1
  const channels = priceChannels(market, state).filter((channel) => out.isWanted(channel))
  if (channels.length > 0) {
    const result = priceResult(market, state, applied.update.time, cursor(n))
    out.publish(channels, { topic: 'price', result, mergeKey: pair.pair, sentTime: true })
  }
  return n + 1
}

function priceChannels(market: Market, pair: PairState): string[] {
  const { chain } = market.state
  const own = priceChannel(pair.pair, chain)
  return isMainPair(market, pair) ? [own, priceChannel(targetOf(pair), chain)] : [own]
}

function isMainPair(market: Market, pair: PairState): boolean {
  return market.state.tokens.get(targetOf(pair))?.main_pair === pair.pair
}

export function priceResult(market: Market, pair: PairState, timeS: number, cursor: string): string {
  return JSON.stringify({ prices: [priceEntry(market, pair, timeS)], topic: 'price', cursor })
}

function priceEntry(market: Market, pair: PairState, timeS: number) {
  const { chain } = market.state
  const day = pairWindow(market, pair, '24h')
  const target = targetOf(pair)
  return {
    chain,
    pair: pair.pair,
    pair_id: `${pair.pair}-${chain}`,
    token: target,
    token_id: `${target}-${chain}`,
    is_main_pair: isMainPair(market, pair),
    target_token: target,
    uprice: decimalOrEmpty(pair.price_usd),
    last_price: decimalOrEmpty(pair.last_price_usd),
    reserve0: rawOrEmpty(pair.reserve0, tokenInfo(market, pair.info.token0).decimals),
    reserve1: rawOrEmpty(pair.reserve1, tokenInfo(market, pair.info.token1).decimals),
    price_change: changeOrEmpty(dayPrice(market, pair), pair.price_usd),
    price_change_24h: decimalOrEmpty(changeOver(pair, day)),
    volume_24_u: decimalOrEmpty(day.buy_volume + day.sell_volume),
    direction: directionOf(pair.last_price_usd, pair.price_usd),
    time: timeS,
    change: changeOrEmpty(pair.last_price_usd, pair.price_usd),
    tvl: decimalOrEmpty(pair.tvl),
    makers_24h: String(day.makers),
    tx_amount_24h: decimalOrEmpty(day.amount),
    tx_count_24h: String(day.buys + day.sells),
  }
}

/** An unknown price before moves nowhere. */
function directionOf(before: number, now: number): 'up' | 'down' | 'flat' {
  return now > before ? 'up' : now < before ? 'down' : 'flat'
}
