import { Type } from '@sinclair/typebox'
import type { SignalAction, SignalEvent } from '../history/signal-events.js'
import { SIGNAL_TYPES, type SignalType } from '../signals/signal-rules.js'
import { decimal, decimalOrNull, fieldsOf, int, intOrNull, rawOrNull, text } from './field-formats.js'
import { knownHolders, type Market, quoteOf, supplyInMarket, targetOf, tokenInfo } from './market-facts.js'
import { priceFields } from './token-view.js'

export const SignalTypeField = Type.Union(SIGNAL_TYPES.map((type) => Type.Literal(type)))

export const SignalView = Type.Object({
  ...fieldsOf(
    ['id', 'symbol', 'token', 'chain', 'headline', 'action_type', 'action_wallet_type', 'pair_address'],
    text,
  ),
  signal_type: SignalTypeField,
  ...fieldsOf(['signal_time', 'first_signal_time', 'action_count'], int),
  actions: Type.Array(
    Type.Object({
      ...fieldsOf(['id', 'wallet_address', 'wallet_alias', 'action_type', 'tx_hash'], text),
      ...fieldsOf(['quote_token_address', 'quote_token_symbol'], text),
      ...fieldsOf(['quote_token_amount', 'quote_token_volume'], decimal),
      ...fieldsOf(['action_time', 'block_number'], int),
    }),
  ),
  ...fieldsOf(['first_signal_price', 'first_signal_mc', 'mc', 'mc_cur', 'max_price_change'], decimal),
  ...fieldsOf(['price_change_24h', 'tx_volume_u_24h', 'top10_ratio', 'dev_ratio', 'insider_ratio'], decimal),
  holders_cur: intOrNull,
  ...fieldsOf(['issue_platform', 'token_tag', 'tag', 'logo'], text),
})

/** An event's action is that of its signal, or its own side where both make one. */
const SIGNALS: Readonly<Record<SignalType, { action: string; by: string; words: string }>> = {
  whale_buy: { action: 'buy', by: 'whale', words: 'Large buy' },
  whale_sell: { action: 'sell', by: 'whale', words: 'Large sale' },
  first_liquidity: { action: 'create', by: 'provider', words: 'First liquidity' },
  graduation: { action: 'create', by: 'provider', words: 'Graduation' },
  liquidity_pulled: { action: 'remove', by: 'provider', words: 'Liquidity pulled' },
  volume_breakout: { action: 'trade', by: 'trader', words: 'Volume breakout' },
  smart_buys: { action: 'buy', by: 'smart', words: 'Buys by smart wallets' },
}

/** Undefined: the pair or its target is gone. */
export function signalView(market: Market, event: SignalEvent) {
  const { state, facts } = market
  const pair = state.pairs.get(event.pair)
  if (pair === undefined) return undefined
  const address = targetOf(pair)
  const token = state.tokens.get(address)
  if (token === undefined) return undefined
  const { action, by, words } = SIGNALS[event.type]
  const actions = [...event.earlier, event]
  const { market_cap, price_change_24h, tx_volume_u_24h } = priceFields(market, token)
  const symbol = token.info.symbol ?? ''
  const marketCapThen = decimalOrNull(event.priceUsd * supplyInMarket(token))
  return {
    id: `${event.id}-${event.type}`,
    ...{ symbol, token: address, chain: state.chain, pair_address: event.pair },
    ...{ signal_type: event.type, signal_time: event.timeS, first_signal_time: actions[0]?.timeS ?? event.timeS },
    headline: headlineOf(words, symbol === '' ? address : symbol, event.totalUsd),
    ...{ action_type: action, action_wallet_type: by, action_count: actions.length },
    actions: actions.flatMap((one) => actionView(market, one, action)),
    first_signal_price: decimalOrNull(event.priceUsd),
    ...{ first_signal_mc: marketCapThen, mc: marketCapThen, mc_cur: market_cap },
    ...{ max_price_change: null, price_change_24h, tx_volume_u_24h },
    ...{ top10_ratio: null, dev_ratio: null, insider_ratio: null, holders_cur: knownHolders(token) },
    ...{ issue_platform: token.info.launch_platform ?? '', token_tag: '', tag: '' },
    logo: token.info.logo_url ?? facts?.logos?.get(address) ?? '',
  }
}

/** In another pool of the token, the quote is another. */
function actionView(market: Market, event: SignalAction, action: string) {
  const pair = market.state.pairs.get(event.pair)
  if (pair === undefined) return []
  const quote = quoteOf(pair)
  const { symbol, decimals } = tokenInfo(market, quote)
  const side = event.isSell ? 'sell' : 'buy'
  return [
    {
      ...{ id: event.id, wallet_address: event.wallet, wallet_alias: '', tx_hash: event.tx_hash },
      action_type: action === 'trade' ? side : action,
      ...{ quote_token_address: quote, quote_token_symbol: symbol ?? '' },
      quote_token_amount: rawOrNull(event.quoteRaw, decimals),
      quote_token_volume: decimalOrNull(event.amountUsd),
      ...{ action_time: event.timeS, block_number: event.blockNumber },
    },
  ]
}

/** A graduation is a signal whatever its deposit is worth, which may be unknown. */
function headlineOf(words: string, name: string, usd: number): string {
  return Number.isFinite(usd) ? `${words} of ${name}: ${Math.round(usd)} USD` : `${words} of ${name}`
}
