import { type Static, Type } from '@sinclair/typebox'
import type { Trade } from '../../../core/domain/records.js'
import { findPlace, readTrades } from '../../history/event-history.js'
import { lastGoodTrade } from '../../history/last-good-trade.js'
import { TRADES } from '../../history/stored-events.js'
import type { Placed } from '../../memory/event-overlay.js'
import { decimal, decimalOrNull, fieldsOf, flag, int, text, textOrNull } from '../../views/field-formats.js'
import { type Market, quoteOf, targetOf } from '../../views/market-facts.js'
import { type OperationContext, operation } from '../operation.js'
import { PairIdParams, resolveId } from '../parameters.js'
import { badRequest } from '../problem.js'

/** A path is a few steps long; a median over two pools forks it. */
const MAX_STEPS = 32

const PathTrade = {
  ...fieldsOf(['pair_id', 'id', 'tx_hash'], text),
  ...fieldsOf(['tx_time', 'block_number'], int),
  target_token_id: text,
  quote_token_id: text,
  ...fieldsOf(['price_usd', 'price_quote', 'quote_price_usd'], decimal),
}

const PathStep = Type.Object({
  token_id: Type.String({ description: 'The token whose price this step explains' }),
  price_usd: decimal,
  used_by: Type.String({ description: 'Id of the trade that was valued with this price' }),
  priced_by: Type.String({ description: 'anchor, peg, main, held, median, deepest, last or any' }),
  pools: Type.Array(Type.String({ description: '<pair_address>-<chain>' }), {
    description: 'The pools whose price it is; of a median over an even number the two in the middle',
  }),
  trades: Type.Array(Type.Object(PathTrade), {
    description: 'The last good trade of each pool before, which set its price',
  }),
  agree: Type.Unsafe<boolean | null>({
    type: ['boolean', 'null'],
    description:
      'Whether these trades give exactly this price; null if no pool determines it, or a price from before is held',
  }),
})

export const pricePath = operation({
  id: 'pricePath',
  method: 'GET',
  path: '/v2/txs/price/{pair-id}',
  summary: 'Where the USD price of a trade came from: the pools and trades behind it, step by step',
  costCu: 50,
  envelope: true,
  readsStore: true,
  params: PairIdParams,
  query: Type.Object({
    id: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,15}-[0-9]{1,10}([.][0-9]{1,10})?$',
        description: 'Id of the trade, as listed by the swaps of the pair; default: the last one',
      }),
    ),
  }),
  data: Type.Object({
    trade: Type.Object({ ...PathTrade, flags: int, wallet_address: textOrNull }),
    agree: flag,
    steps: Type.Array(PathStep),
  }),
  nullable: true,
  async handle(context, { params, query }) {
    const { address, chain, market } = resolveId(context.chains, params['pair-id'], 'pair-id')
    if (!market.state.pairs.has(address))
      return { data: null, chains: [chain], reason: 'unknown_pair', msg: 'pair not found' }
    const trade = await findTrade(context, market, address, query.id)
    if (trade === undefined) return { data: null, chains: [chain], reason: 'no_trades' }
    const steps = await stepsOf(context, market, address, trade)
    const agree = steps.every((step) => step.agree !== false)
    const { flags, wallet } = trade
    const data = { trade: { ...pathTrade(market, address, trade), flags, wallet_address: wallet }, agree, steps }
    return { data, chains: [chain] }
  },
})

type Step = Static<typeof PathStep>

async function findTrade(
  context: OperationContext,
  { state }: Market,
  pair: string,
  id: string | undefined,
): Promise<Placed<Trade> | undefined> {
  const place = id === undefined ? undefined : await findPlace(context, state, TRADES, pair, id)
  if (id !== undefined && place === undefined)
    throw badRequest('trade_unknown', `The pair has no trade "${id}": a reorg may have removed it.`)
  const after = place === undefined ? undefined : { ...place, sub: place.sub + 1 }
  const range = { fromS: undefined, toS: undefined }
  const [trade] = await readTrades(context, state, { pair, limit: 1, ...range, sort: 'desc', after })
  return trade
}

/** From the quote of the trade on: each pool's price came from a trade, whose quote had a price in turn. */
async function stepsOf(
  { store }: OperationContext,
  market: Market,
  pair: string,
  trade: Placed<Trade>,
): Promise<Step[]> {
  const { state } = market
  const steps: Step[] = []
  const seen = new Set<string>()
  const left = [{ pair, trade }]
  for (let next = left.shift(); next !== undefined && steps.length < MAX_STEPS; next = left.shift()) {
    const known = state.pairs.get(next.pair)
    const key = `${next.pair} ${next.trade.id}`
    if (known === undefined || seen.has(key)) continue
    seen.add(key)
    const [how = '', names = ''] = next.trade.quote_path.split(':')
    const pools = names === '' ? [] : names.split(',')
    // The trades that set a held price may be long ago, with others after them.
    const isHeld = how === 'last' || how === 'held'
    const found: { pair: string; trade: Placed<Trade> }[] = []
    for (const pool of isHeld ? [] : pools) {
      const last = await lastGoodTrade(store, state, pool, next.trade)
      if (last !== undefined) found.push({ pair: pool, trade: last })
    }
    steps.push({
      token_id: `${quoteOf(known)}-${state.chain}`,
      price_usd: decimalOrNull(next.trade.quote_usd),
      used_by: next.trade.id,
      priced_by: how,
      pools: pools.map((pool) => `${pool}-${state.chain}`),
      trades: found.map((one) => pathTrade(market, one.pair, one.trade)),
      agree: pools.length === 0 || isHeld ? null : priceOf(found, pools.length) === next.trade.quote_usd,
    })
    left.push(...found)
  }
  return steps
}

function priceOf(found: readonly { trade: Trade }[], pools: number): number {
  const [first, second] = found.map(({ trade }) => trade.price_usd)
  if (first === undefined || found.length < pools) return Number.NaN
  return second === undefined ? first : (first + second) / 2
}

function pathTrade({ state }: Market, pair: string, trade: Placed<Trade>) {
  const known = state.pairs.get(pair)
  return {
    pair_id: `${pair}-${state.chain}`,
    id: trade.id,
    tx_hash: trade.tx_hash,
    tx_time: trade.timeS,
    block_number: trade.blockNumber,
    target_token_id: known === undefined ? '' : `${targetOf(known)}-${state.chain}`,
    quote_token_id: known === undefined ? '' : `${quoteOf(known)}-${state.chain}`,
    price_usd: decimalOrNull(trade.price_usd),
    price_quote: decimalOrNull(trade.price_quote),
    quote_price_usd: decimalOrNull(trade.quote_usd),
  }
}
