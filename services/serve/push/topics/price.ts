import { Type } from '@sinclair/typebox'
import { windowOf } from '../../../core/domain/packed-windows.js'
import { changeOrEmpty, decimalOrEmpty, fieldsOf, flag, int, rawOrEmpty, text } from '../../views/field-formats.js'
import { dayPrice, mainPairOf, targetOf } from '../../views/market-facts.js'
import { changeOver } from '../../views/pair-view.js'
import { channelsOf, priceChannel } from '../channels.js'
import { priceRefill } from '../gap-notices.js'
import { badParams, canonicalOf, readCount, readEach, readId, readMaxItems } from '../params.js'
import type { EntryPusher, ParseContext, Topic } from '../topic.js'
import { type PairSnapshot, snapshotPair } from '../update-snapshot.js'

const PriceEntry = Type.Object({
  ...fieldsOf(['chain', 'pair', 'pair_id', 'token', 'token_id', 'target_token', 'uprice', 'last_price'], text),
  ...fieldsOf(['reserve0', 'reserve1', 'price_change', 'price_change_24h', 'volume_24_u', 'change', 'tvl'], text),
  ...fieldsOf(['makers_24h', 'tx_amount_24h', 'tx_count_24h'], text),
  is_main_pair: flag,
  direction: Type.Union([Type.Literal('up'), Type.Literal('down'), Type.Literal('flat')]),
  time: int,
})

export const price: Topic = {
  name: 'price',
  summary: 'Price changes of tokens (from their main pairs) and pairs',
  params: Type.Tuple([
    Type.Array(Type.String({ description: 'token-id or pair-id; *-<chain> for every pair of a chain' }), {
      minItems: 1,
    }),
  ]),
  result: Type.Object({
    prices: Type.Array(PriceEntry, { minItems: 1, maxItems: 1 }),
    topic: Type.Literal('price'),
    snapshot: Type.Optional(Type.Literal(true)),
    cursor: text,
  }),
  onSlow: 'conflate',
  parse(args, context) {
    readCount(args, ['one array of token-ids and pair-ids'], 'price')
    const [ids] = args
    if (!Array.isArray(ids) || ids.length === 0) throw badParams('price expects an array of at least one id.')
    readMaxItems(context, ids.length)
    const { items, unknown: leftOut } = readEach(ids, (id) => readId(context, id))
    const byChannel = new Map(items.map((id) => [priceChannel(id.address, id.chain), id]))
    const channels = [...byChannel.keys()]
    const known = [...byChannel.values()]
    return {
      canonical: canonicalOf('price', channels),
      channels,
      chains: [...new Set(known.map(({ chain }) => chain))],
      leftOut,
      refills: (wanted) =>
        known.flatMap(({ address, chain }) => (chain === wanted ? [priceRefill(context, address, chain)] : [])),
      snapshot: (cursorAt) => {
        const moments = known.flatMap(({ address, chain }) => currentOf(context, address, chain) ?? [])
        const byPair = new Map(moments.map((at) => [`${at.pair.pair}-${at.chain}`, at]))
        return [...byPair.values()].map((at) => {
          return priceResult(at, at.pair.last_trade_at, { snapshot: true }, cursorAt(at.chain))
        })
      },
    }
  },
}

/** The current pair of an id. */
function currentOf({ chains }: ParseContext, address: string, chain: string): PairSnapshot | undefined {
  const market = chains.market(chain)
  const token = market?.state.tokens.get(address)
  const main = market && token && mainPairOf(market, token)
  return snapshotPair(market, main?.pair ?? address)
}

/** After trades or a reorg: pushed to subscribers of the pair, and of the token if it is its main pair. */
export const pushPrice: EntryPusher = ({ update, out, cursor }, { at, movesPrice }, n) => {
  // A pair removed by a reorg has no price.
  if (!movesPrice || update.retracted.some(({ pair, isGone }) => isGone && pair === at.pair.pair)) return
  const { price, targetPrice } = channelsOf(at)
  const channels = (at.isMainPair ? targetPrice : price).filter(out.isWanted)
  if (channels.length === 0) return
  const result = priceResult(at, update.timeS, {}, cursor(n))
  out.publish(channels, { topic: 'price', n, result, mergeKey: `price|${at.pair.pair}|${at.chain}`, sentTime: true })
}

export function priceResult(at: PairSnapshot, timeS: number, marks: { snapshot?: true }, cursor: string): string {
  return JSON.stringify({ prices: [priceEntry(at, timeS)], topic: 'price', ...marks, cursor })
}

function priceEntry({ chain, nowS, pair, info0, info1, isMainPair }: PairSnapshot, timeS: number) {
  const day = windowOf(pair.windows, '24h')
  const target = targetOf(pair)
  return {
    chain,
    pair: pair.pair,
    pair_id: `${pair.pair}-${chain}`,
    token: target,
    token_id: `${target}-${chain}`,
    is_main_pair: isMainPair,
    target_token: target,
    uprice: decimalOrEmpty(pair.price_usd),
    last_price: decimalOrEmpty(pair.last_price_usd),
    reserve0: rawOrEmpty(pair.reserve0, info0.decimals),
    reserve1: rawOrEmpty(pair.reserve1, info1.decimals),
    price_change: changeOrEmpty(dayPrice({ state: { nowS } }, pair), pair.price_usd),
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

/** Flat if the previous price is unknown. */
function directionOf(before: number, now: number): 'up' | 'down' | 'flat' {
  return now > before ? 'up' : now < before ? 'down' : 'flat'
}
