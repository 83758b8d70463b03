import { INTERVALS } from '../../core/domain/chains.js'
import type { MainPairChange } from '../../core/domain/records.js'
import type { PairState } from '../memory/chain-state.js'
import { rawToNumber } from '../numbers/raw-decimal.js'
import { launchTag, type Market, targetOf, tokenInfo } from '../views/market.js'
import { jsonNumberOrNull } from '../views/schema.js'
import type { PushContext } from './topic.js'
import { klineChannel } from './topics/kline.js'
import { priceChannel, priceResult } from './topics/price.js'

/** Tells every kline subscription of the old and the new pair, and who follows the token's price, of a new main pair. */
export function pushMainPairSwitch(
  { market, applied, out, cursor }: PushContext,
  change: MainPairChange,
  n: number,
): void {
  const { chain } = market.state
  const pair = change.new_pair === null ? undefined : market.state.pairs.get(change.new_pair)
  if (pair === undefined) return
  const priceOfToken = priceChannel(change.token, chain)
  if (
    out.isWanted(priceOfToken) &&
    !applied.update.pairs.some((one) => one.pair === pair.pair && one.trades.length > 0)
  ) {
    const result = priceResult(market, pair, applied.update.time, cursor(n))
    out.publish([priceOfToken], { topic: 'price', result, mergeKey: pair.pair, sentTime: true })
  }
  if (change.old_pair === null) return
  const channels = [change.old_pair, pair.pair]
    .flatMap((address) => INTERVALS.map((interval) => klineChannel(address, interval, chain)))
    .filter((channel) => out.isWanted(channel))
  if (channels.length === 0) return
  const result = JSON.stringify({
    data: switchData(market, change.token, change.old_pair, pair),
    status: 'ok',
    cursor: cursor(n),
  })
  out.publish(channels, { topic: 'kline', result, mergeKey: `switch|${change.token}`, sentTime: false })
}

function switchData(market: Market, token: string, oldPair: string, pair: PairState) {
  const { chain } = market.state
  const tag = launchTag(market, token)
  return {
    chain,
    event: 'switch_main_pair',
    id: `${oldPair}-${chain}`,
    new_main_pair: pair.pair,
    old_main_pair: oldPair,
    tag,
    token,
    new_main_pair_data: pairData(market, pair, tag),
  }
}

function pairData(market: Market, pair: PairState, tag: string) {
  const { token0, token1, amm } = pair.info
  const info0 = tokenInfo(market, token0)
  const info1 = tokenInfo(market, token1)
  return {
    amm,
    chain: market.state.chain,
    init_reserve0: jsonNumberOrNull(rawToNumber(pair.init_reserve0, info0.decimals)) ?? 0,
    init_reserve1: jsonNumberOrNull(rawToNumber(pair.init_reserve1, info1.decimals)) ?? 0,
    pair: pair.pair,
    reserve0: jsonNumberOrNull(rawToNumber(pair.reserve0, info0.decimals)),
    reserve1: jsonNumberOrNull(rawToNumber(pair.reserve1, info1.decimals)),
    tag,
    target_token: targetOf(pair),
    token0_address: token0,
    token0_decimal: info0.decimals,
    token0_symbol: info0.symbol ?? '',
    token1_address: token1,
    token1_decimal: info1.decimals,
    token1_symbol: info1.symbol ?? '',
    tvl: jsonNumberOrNull(pair.tvl),
  }
}
