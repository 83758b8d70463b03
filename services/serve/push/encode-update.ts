import { INTERVALS } from '../../core/domain/chains.js'
import { candleCount } from '../../core/domain/packed-candles.js'
import { jsonNumberOrNull, rawToNumber } from '../views/field-formats.js'
import { launchTagOf, targetOf } from '../views/market-facts.js'
import {
  ANY_SIGNAL,
  ANY_WALLET,
  anyWalletChannel,
  klineChannel,
  liqChannel,
  multiTxChannel,
  priceChannel,
  signalChannel,
  txChannel,
} from './channels.js'
import { cursorOf } from './cursor.js'
import { noticeResult } from './notices.js'
import { WHOLE_CHAIN } from './params.js'
import type { Publisher, PushContext } from './topic.js'
import { pushKline, pushKlines } from './topics/kline.js'
import { pushLiquidity } from './topics/liq.js'
import { priceResult, pushPrice } from './topics/price.js'
import { pushSignals } from './topics/signal.js'
import { pushTrades } from './topics/tx.js'
import { pushWalletEvents } from './topics/wallet.js'
import {
  type MainPairSwitch,
  numberClosings,
  type PairEntry,
  type PairSnapshot,
  type Retraction,
  type UpdateSnapshot,
} from './update-snapshot.js'

/** Encodes an update's pushes in this order: closed candles, retracted events, each pair's changes, main pairs. */
export function encodeUpdate(update: UpdateSnapshot, out: Publisher): void {
  encodeClosedCandles(update, out)
  const context: PushContext = { update, out, cursor: cursorOf(update) }
  for (const retraction of update.retracted) pushRetractNotice(context, retraction)
  const hasSignals = out.isWanted(signalChannel(update.chain))
  const hasWallets = out.isWanted(anyWalletChannel(update.chain))
  for (const entry of update.entries) {
    pushEntry(context, entry)
    if (hasWallets) pushWalletEvents(context, entry, entry.firstN)
    if (hasSignals) pushSignals(context, entry, entry.firstN)
  }
  for (const one of update.switches) pushMainPairSwitch(context, one)
}

/** Chain time closed them before anything in the update itself. */
function encodeClosedCandles(update: UpdateSnapshot, out: Publisher): void {
  const context: PushContext = { update, out, cursor: cursorOf({ ...update, seq: update.seq - 1 }) }
  const wanted = update.closings.filter(({ pair }) => out.concerns(pair.pair))
  for (const { pair, candle, isGone, n } of numberClosings(wanted))
    pushKline(context, { chain: update.chain, pair }, candle, isGone ? { removed: true } : { final: true }, n)
}

/** Trades first, then liquidity, candles and price. A trade has the same number on every topic. */
function pushEntry(context: PushContext, entry: PairEntry): void {
  const { pair, info } = entry.at.pair
  if (!context.out.concerns(pair, info.token0, info.token1)) return
  let n = entry.firstN
  pushTrades(context, entry, n)
  n += entry.trades.length
  pushLiquidity(context, entry, n)
  n += entry.liquidity.length
  pushKlines(context, entry, n)
  n += candleCount(entry.candles)
  pushPrice(context, entry, n)
}

/** Notifies subscribers of a pair's events that a reorg removed them. */
export function pushRetractNotice({ update, out, cursor }: PushContext, { pair, ids, tokens, n }: Retraction): void {
  const { chain } = update
  if (!out.concerns(pair, ...tokens, ANY_WALLET, ANY_SIGNAL)) return
  const channels = [
    anyWalletChannel(chain),
    signalChannel(chain),
    ...[pair, WHOLE_CHAIN].flatMap((address) => [txChannel(address, chain), liqChannel(address, chain)]),
    ...tokens.map((token) => multiTxChannel(token, chain)),
  ].filter(out.isWanted)
  if (channels.length === 0) return
  const mark = cursor(n)
  const result = noticeResult({
    ...{ topic: 'retract', id: pair, chain, to_block: update.number, ids: [...ids], cursor: mark },
  })
  out.publish(channels, { topic: 'retract', n, result, mergeKey: `retract|${mark}`, sentTime: true })
}

/** Pushes a new main pair to kline subscriptions of both pairs and to price subscriptions of the token. */
export function pushMainPairSwitch(
  { update, out, cursor }: PushContext,
  { change, at, isPricePushed, n }: MainPairSwitch,
): void {
  const { chain } = update
  const { token, old_pair: oldPair } = change
  const { pair } = at.pair
  if (!out.concerns(token, pair, oldPair ?? pair)) return
  const priceOfToken = priceChannel(token, chain)
  if (out.isWanted(priceOfToken) && !isPricePushed) {
    const result = priceResult(at, update.timeS, {}, cursor(n))
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

function targetInfo({ pair, info0, info1 }: PairSnapshot) {
  return pair.info.target === 0 ? info0 : info1
}

function pairData({ chain, pair, info0, info1 }: PairSnapshot, tag: string) {
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
