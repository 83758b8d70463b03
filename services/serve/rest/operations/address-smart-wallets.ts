import { Type } from '@sinclair/typebox'
import { PROFIT_BUCKETS, type SmartWallet } from '../../history/smart-wallets.js'
import { decimal, decimalOrNull, fieldsOf, int, text } from '../../views/field-formats.js'
import { moneyOf } from '../../views/market-facts.js'
import { byText, descending } from '../../views/ranking.js'
import { operation } from '../operation.js'
import { ChainName, epochSeconds, pageOf, pageQuery, resolveChain, SortDirection } from '../parameters.js'

const DAYS: Readonly<Record<string, number>> = { '1D': 1, '7D': 7, '30D': 30 }

const BUCKETS = [...PROFIT_BUCKETS.map(({ name }) => name), 'profit_300_900_percent_num' as const]
type Bucket = (typeof BUCKETS)[number]

const MEASURES: Readonly<Record<string, (wallet: SmartWallet) => number>> = {
  total_profit: ({ profitUsd }) => profitUsd,
  total_profit_rate: ({ profitRate }) => profitRate,
  token_profit_rate: winRateOf,
  win_rate: winRateOf,
  total_volume: volumeOf,
  total_trades: ({ buys, sells }) => buys + sells,
  last_trade_time: ({ lastTradeS }) => lastTradeS,
  ...Object.fromEntries(BUCKETS.map((name) => [name, (wallet: SmartWallet) => countIn(wallet, name)])),
}

const bound = (name: Bucket, end: 'min' | 'max') =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      description: `${end === 'min' ? 'Least' : 'Most'} tokens in ${name}`,
    }),
  )

const BOUNDS = Object.fromEntries(
  BUCKETS.flatMap((name) => [
    [`${name}_min`, bound(name, 'min')],
    [`${name}_max`, bound(name, 'max')],
  ]),
)

export const addressSmartWallets = operation({
  id: 'addressSmartWallets',
  method: 'GET',
  path: '/v2/address/smart_wallet/list',
  summary: 'Wallets with the highest realised profit',
  costCu: 5,
  envelope: true,
  readsStore: true,
  params: Type.Object({}),
  query: Type.Object({
    chain: ChainName,
    interval: Type.Optional(
      Type.Union(
        Object.keys(DAYS).map((name) => Type.Literal(name)),
        {
          default: '30D',
          description: 'Trades of the last 1, 7 or 30 days',
        },
      ),
    ),
    keyword: Type.Optional(Type.String({ maxLength: 128, description: 'Part of a wallet address' })),
    sort: Type.Optional(
      Type.Union(
        Object.keys(MEASURES).map((name) => Type.Literal(name)),
        {
          default: 'total_profit',
          description: 'Sort key',
        },
      ),
    ),
    sort_dir: SortDirection,
    page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'Wallets per page' })),
    pageNO: pageQuery({ max: 500, standard: 100 }).pageNO,
    last_trade_time_min: Type.Optional(epochSeconds('Earliest last trade')),
    last_trade_time_max: Type.Optional(epochSeconds('Latest last trade')),
    ...BOUNDS,
  }),
  data: Type.Array(
    Type.Object({
      ...fieldsOf(['wallet_address', 'chain', 'tag', 'remark', 'extra_info'], text),
      ...fieldsOf(['total_profit', 'total_profit_rate', 'total_purchase', 'total_sold', 'total_volume'], decimal),
      token_profit_rate: decimal,
      ...fieldsOf(['total_trades', 'buy_trades', 'sell_trades', 'last_trade_time', 'as_of'], int),
      ...fieldsOf(BUCKETS, int),
      tag_items: Type.Array(Type.String()),
    }),
  ),
  async handle({ chains, smart }, { query }) {
    const market = resolveChain(chains, query.chain)
    const { chain } = market.state
    const days = DAYS[query.interval ?? '30D'] ?? 30
    const { wallets, asOfS } = await smart.of(market.state, days, moneyOf(market))
    const measure = MEASURES[query.sort ?? 'total_profit'] ?? winRateOf
    const sign = query.sort_dir === 'asc' ? -1 : 1
    const found = wallets
      .filter((wallet) => isWanted(wallet, query))
      .sort((a, b) => descending(sign * measure(a), sign * measure(b)) || byText(a.wallet, b.wallet))
    const { page_size: pageSize = 100, pageNO = 1 } = query
    const data = pageOf(found, { pageSize, pageNO }).map((wallet) => viewOf(chain, wallet, asOfS))
    return { data, chains: [chain], isProvisional: true, ...(found.length === 0 ? { reason: 'no_wallets' } : {}) }
  },
})

function winRateOf({ wins, closed }: SmartWallet): number {
  return wins / closed
}

function volumeOf({ boughtUsd, soldUsd }: SmartWallet): number {
  return boughtUsd + soldUsd
}

/** Two of the buckets are also counted as one. */
function countIn(wallet: SmartWallet, bucket: Bucket): number {
  return bucket === 'profit_300_900_percent_num'
    ? wallet.profit_300_500_percent_num + wallet.profit_500_900_percent_num
    : wallet[bucket]
}

type Wanted = { keyword?: string; last_trade_time_min?: number; last_trade_time_max?: number }

function isWanted(wallet: SmartWallet, query: Wanted): boolean {
  const { keyword = '', last_trade_time_min: fromS = 0, last_trade_time_max: toS = Number.MAX_SAFE_INTEGER } = query
  if (!wallet.wallet.toLowerCase().includes(keyword.trim().toLowerCase())) return false
  if (wallet.lastTradeS < fromS || wallet.lastTradeS > toS) return false
  const bounds = query as Record<string, number | undefined>
  return BUCKETS.every((name) => {
    const count = countIn(wallet, name)
    return count >= (bounds[`${name}_min`] ?? 0) && count <= (bounds[`${name}_max`] ?? Number.MAX_SAFE_INTEGER)
  })
}

function viewOf(chain: string, wallet: SmartWallet, asOfS: number) {
  return {
    ...{ wallet_address: wallet.wallet, chain, tag: '', tag_items: [], remark: '', extra_info: '' },
    total_profit: decimalOrNull(wallet.profitUsd),
    total_profit_rate: decimalOrNull(wallet.profitRate),
    token_profit_rate: decimalOrNull(winRateOf(wallet)),
    total_purchase: decimalOrNull(wallet.boughtUsd),
    total_sold: decimalOrNull(wallet.soldUsd),
    total_volume: decimalOrNull(volumeOf(wallet)),
    ...{ total_trades: wallet.buys + wallet.sells, buy_trades: wallet.buys, sell_trades: wallet.sells },
    ...{ last_trade_time: wallet.lastTradeS, as_of: asOfS },
    ...Object.fromEntries(BUCKETS.map((name) => [name, countIn(wallet, name)])),
  }
}
