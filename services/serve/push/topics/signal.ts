import { Type } from '@sinclair/typebox'
import { candleCount } from '../../../core/domain/packed-candles.js'
import { graduatedTo, type SignalType, signalOfLiquidity, signalOfTrade } from '../../signals/signal-rules.js'
import { decimalOrEmpty, fieldsOf, int, text } from '../../views/field-formats.js'
import { targetOf } from '../../views/market-facts.js'
import { SignalTypeField } from '../../views/signal-view.js'
import { breakoutOf } from '../breakout.js'
import { signalChannel } from '../channels.js'
import { badParams, ChainParam, readCount } from '../params.js'
import { smartBuyOf } from '../smart-buy.js'
import type { EntryPusher, Topic } from '../topic.js'

export const signal: Topic = {
  name: 'signal',
  summary: 'Every signal of a chain',
  params: Type.Tuple([ChainParam]),
  result: Type.Object({
    id: Type.String({ description: 'Id of the event and type of the signal' }),
    topic: Type.Literal('signal'),
    signal: Type.Object({
      signal_type: SignalTypeField,
      ...fieldsOf(['event_id', 'token', 'symbol', 'chain', 'pair_address', 'tx_hash', 'wallet_address'], text),
      ...fieldsOf(['amount_usd', 'price_usd'], text),
      ...fieldsOf(['signal_time', 'block_number'], int),
    }),
    cursor: text,
  }),
  onSlow: 'disconnect',
  parse(args, { chains }) {
    readCount(args, ['a chain'], 'signal')
    const market = typeof args[0] === 'string' ? chains.market(args[0]) : undefined
    if (market === undefined) throw badParams(`Chain ${JSON.stringify(args[0] ?? null).slice(0, 80)} is not indexed.`)
    const { chain } = market.state
    const channel = signalChannel(chain)
    const refills = () => [{ path: '/v2/signals/public/list', query: { chain }, isRanged: false }]
    return { canonical: channel, channels: [channel], chains: [chain], refills, snapshot: () => [] }
  },
}

/**
 * The signals among a pair's events. A signal has the number of its event, a breakout that of its hour's candle, and smart buys that of
 * the pair's price: no two of an update have the same.
 */
export const pushSignals: EntryPusher = ({ update, out, cursor }, { at, trades, liquidity, candles }, n) => {
  const channel = signalChannel(at.chain)
  const info = at.pair.info.target === 0 ? at.info0 : at.info1
  const push = (
    index: number,
    type: SignalType,
    event: { id: string; tx_hash: string; wallet: string; amount_usd: number; price_usd?: number },
  ) => {
    const mark = cursor(n + index)
    const id = `${event.id}-${type}`
    const body = {
      ...{
        signal_type: type,
        event_id: event.id,
        token: targetOf(at.pair),
        symbol: info.symbol ?? '',
        chain: at.chain,
      },
      ...{ pair_address: at.pair.pair, tx_hash: event.tx_hash, wallet_address: event.wallet },
      amount_usd: decimalOrEmpty(event.amount_usd),
      price_usd: decimalOrEmpty(event.price_usd ?? Number.NaN),
      ...{ signal_time: update.timeS, block_number: update.number },
    }
    const result = JSON.stringify({ id, topic: 'signal', signal: body, cursor: mark })
    out.publish([channel], { topic: 'signal', n: n + index, result, mergeKey: mark, sentTime: true })
  }
  for (const [index, trade] of trades.entries()) {
    const type = signalOfTrade(trade)
    if (type !== undefined) push(index, type, trade)
  }
  const isGraduated = liquidity.length > 0 && graduatedTo(info, at.pair.pair)
  for (const [index, event] of liquidity.entries()) {
    const type = signalOfLiquidity(event, isGraduated)
    if (type !== undefined) push(trades.length + index, type, event)
  }
  const breakout = breakoutOf(update, { at, trades, candles })
  if (breakout !== undefined)
    push(trades.length + liquidity.length + breakout.candleIndex, 'volume_breakout', breakout.trade)
  const smart = smartBuyOf(update, { at, trades })
  if (smart !== undefined) push(trades.length + liquidity.length + candleCount(candles), 'smart_buys', smart)
}
