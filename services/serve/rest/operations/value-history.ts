import { type Static, Type } from '@sinclair/typebox'
import type { HistoryInterval } from '../../history/candle-bars.js'
import { wholeHistory } from '../../history/candle-history.js'
import { mainPairSegments } from '../../history/main-pairs.js'
import { type PairValue, readPairValues } from '../../history/pair-hours.js'
import type { Segment } from '../../history/stored-candles.js'
import { decimal, decimalOrNull, fieldsOf, int, text } from '../../views/field-formats.js'
import type { Market } from '../../views/market-facts.js'
import { HistoryQuery, historyPage, readHistoryPage } from '../history-page.js'
import { type OperationContext, operation } from '../operation.js'
import { PairIdParams, resolveId, TokenIdParams } from '../parameters.js'

const HistoryData = Type.Object({
  ...historyPage,
  points: Type.Array(
    Type.Object({
      time: int,
      pair_id: text,
      ...fieldsOf(['price_usd', 'tvl', 'liquidity_usd', 'market_cap', 'fdv'], decimal),
    }),
  ),
})

export const pairHistory = operation({
  id: 'pairHistory',
  method: 'GET',
  path: '/v2/pairs/{pair-id}/history',
  summary: 'Price, TVL and market cap of a pair at the end of each hour or day with events',
  costCu: 10,
  envelope: true,
  readsStore: true,
  params: PairIdParams,
  query: HistoryQuery,
  data: HistoryData,
  async handle(context, { params, query }) {
    const { address, chain, market } = resolveId(context.chains, params['pair-id'], 'pair-id')
    const isKnown = market.state.pairs.has(address)
    const data = await readHistory(context, market, query, async () => (isKnown ? [wholeHistory(address)] : []))
    const unknown = { reason: 'unknown_pair', msg: 'pair not found' }
    return { data, chains: [chain], isProvisional: true, ...(isKnown ? {} : unknown) }
  },
})

export const tokenHistory = operation({
  id: 'tokenHistory',
  method: 'GET',
  path: '/v2/tokens/{token-id}/history',
  summary: 'Price and market cap of a token at the end of each hour or day, with the TVL of its main pair then',
  costCu: 10,
  envelope: true,
  readsStore: true,
  params: TokenIdParams,
  query: HistoryQuery,
  data: HistoryData,
  async handle(context, { params, query }) {
    const { address, chain, market } = resolveId(context.chains, params['token-id'], 'token-id')
    const isKnown = market.state.tokens.has(address)
    const data = await readHistory(context, market, query, (interval) =>
      mainPairSegments(context, market.state, address, interval),
    )
    const unknown = { reason: 'unknown_token', msg: 'token not found' }
    return { data, chains: [chain], isProvisional: true, ...(isKnown ? {} : unknown) }
  },
})

async function readHistory(
  { store, flush }: OperationContext,
  market: Market,
  query: Static<typeof HistoryQuery>,
  segmentsOf: (interval: HistoryInterval) => Promise<Segment[]>,
): Promise<Static<typeof HistoryData>> {
  const { chain } = market.state
  const { values, ...page } = await readHistoryPage(market, flush, query, async ({ interval, span, order, limit }) => {
    const segments = await segmentsOf(interval)
    return readPairValues(store, chain, segments, interval, span, order, limit)
  })
  return { ...page, points: values.map((value) => pointOf(value, chain)) }
}

function pointOf({ timeS, pair, priceUsd, tvl, liquidityUsd, supply, supplyLeft }: PairValue, chain: string) {
  return {
    time: timeS,
    pair_id: `${pair}-${chain}`,
    price_usd: decimalOrNull(priceUsd),
    tvl: decimalOrNull(tvl),
    liquidity_usd: decimalOrNull(liquidityUsd),
    market_cap: decimalOrNull(priceUsd * supplyLeft),
    fdv: decimalOrNull(priceUsd * supply),
  }
}
