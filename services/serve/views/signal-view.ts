import { Type } from '@sinclair/typebox'
import type { SignalEvent } from '../history/stored-signals.js'
import { SIGNAL_TYPES, type SignalType } from '../signals/signal-rules.js'
import { decimal, decimalOrNull, fieldsOf, int, intOrNull, rawOrNull, text } from './field-formats.js'
import { knownHolders, type Market, quoteOf, supplyLeft, targetOf, tokenInfo } from './market-facts.js'
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

const ACTIONS: Readonly<Record<SignalType, { action: string; words: string }>> = {
  whale_buy: { action: 'buy', words: 'Large buy' },
  whale_sell: { action: 'sell', words: 'Large sale' },
  first_liquidity: { action: 'create', words: 'First liquidity' },
  graduation: { action: 'create', words: 'Graduation' },
  liquidity_pulled: { action: 'remove', words: 'Liquidity pulled' },
}

/** Undefined: the pair or its target is gone. */
export function signalView(market: Market, event: SignalEvent) {
  const { state, facts } = market
  const pair = state.pairs.get(event.pair)
  if (pair === undefined) return undefined
  const address = targetOf(pair)
  const token = state.tokens.get(address)
  if (token === undefined) return undefined
  const { action, words } = ACTIONS[event.type]
  const quote = quoteOf(pair)
  const quoteInfo = tokenInfo(market, quote)
  const { market_cap, price_change_24h, tx_volume_u_24h } = priceFields(market, token)
  const symbol = token.info.symbol ?? ''
  const marketCapThen = decimalOrNull(event.priceUsd * supplyLeft(token))
  return {
    id: `${event.id}-${event.type}`,
    ...{ symbol, token: address, chain: state.chain, pair_address: event.pair },
    ...{ signal_type: event.type, signal_time: event.timeS, first_signal_time: event.timeS },
    headline: headlineOf(words, symbol === '' ? address : symbol, event.amountUsd),
    ...{
      action_type: action,
      action_wallet_type: event.type.startsWith('whale') ? 'whale' : 'provider',
      action_count: 1,
    },
    actions: [
      {
        ...{
          id: event.id,
          wallet_address: event.wallet,
          wallet_alias: '',
          action_type: action,
          tx_hash: event.tx_hash,
        },
        ...{ quote_token_address: quote, quote_token_symbol: quoteInfo.symbol ?? '' },
        quote_token_amount: rawOrNull(event.quoteRaw, quoteInfo.decimals),
        quote_token_volume: decimalOrNull(event.amountUsd),
        ...{ action_time: event.timeS, block_number: event.blockNumber },
      },
    ],
    first_signal_price: decimalOrNull(event.priceUsd),
    ...{ first_signal_mc: marketCapThen, mc: marketCapThen, mc_cur: market_cap },
    ...{ max_price_change: null, price_change_24h, tx_volume_u_24h },
    ...{ top10_ratio: null, dev_ratio: null, insider_ratio: null, holders_cur: knownHolders(token) },
    ...{ issue_platform: token.info.launch_platform ?? '', token_tag: '', tag: '' },
    logo: token.info.logo_url ?? facts?.logos?.get(address) ?? '',
  }
}

/** A graduation is a signal whatever its deposit is worth, which may be unknown. */
function headlineOf(words: string, name: string, usd: number): string {
  return Number.isFinite(usd) ? `${words} of ${name}: ${Math.round(usd)} USD` : `${words} of ${name}`
}
