import { INTERVALS } from '../../core/domain/chains.js'
import { rawToNumber } from '../views/field-formats.js'
import { launchTagOf, targetOf } from '../views/market-facts.js'
import { jsonNumberOrNull } from '../views/schema.js'
import type { PairMoment, Switch } from './update-snapshot.js'
import { WHOLE_CHAIN } from './params.js'
import type { PushContext } from './topic.js'
import { klineChannel } from './topics/kline.js'
import { priceChannel, priceResult } from './topics/price.js'

/** Tells every kline subscription of the old and the new pair, and who follows the token's price, of a new main pair. */
export function pushMainPairSwitch({ moment, out, cursor }: PushContext, { change, at, isPriceTold, n }: Switch): void {
  const { chain } = moment
  const { token, old_pair: oldPair } = change
  const { pair } = at.pair
  if (!out.concerns(token, pair, oldPair ?? pair)) return
  const priceOfToken = priceChannel(token, chain)
  if (out.isWanted(priceOfToken) && !isPriceTold) {
    const result = priceResult(at, moment.timeS, {}, cursor(n))
    out.publish([priceOfToken], { topic: 'price', n, result, mergeKey: `price|${pair}|${chain}`, sentTime: true })
  }
  if (oldPair === null) return
  const channels = [oldPair, pair, WHOLE_CHAIN]
    .flatMap((address) => INTERVALS.map((interval) => klineChannel(address, interval, chain)))
    .filter(out.isWanted)
  if (channels.length === 0) return
  const tag = launchTagOf(targetInfo(at))
  const result = JSON.stringify({
    data: {
      chain,
      event: 'switch_main_pair',
      id: `${oldPair}-${chain}`,
      new_main_pair: pair,
      old_main_pair: oldPair,
      tag,
      token,
      new_main_pair_data: pairData(at, tag),
    },
    status: 'ok',
    cursor: cursor(n),
  })
  out.publish(channels, { topic: 'kline', n, result, mergeKey: `switch|${token}|${chain}`, sentTime: false })
}

function targetInfo({ pair, info0, info1 }: PairMoment) {
  return pair.info.target === 0 ? info0 : info1
}

function pairData({ chain, pair, info0, info1 }: PairMoment, tag: string) {
  const { token0, token1, amm } = pair.info
  return {
    amm,
    chain,
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
