/** The tools of the Model Context Protocol. Each one is a REST operation: its arguments and their rules are the operation's. */

import { type JsonSchema, jsonSchema } from '../documents/json-schema.js'
import type { Documented } from '../documents/openapi.js'
import { addressPnl } from '../rest/operations/address-pnl.js'
import { addressSmartWallets } from '../rest/operations/address-smart-wallets.js'
import { addressTx } from '../rest/operations/address-tx.js'
import { addressWalletinfo, addressWalletinfoTokens } from '../rest/operations/address-walletinfo.js'
import { contracts } from '../rest/operations/contracts.js'
import { klinesPair } from '../rest/operations/klines-pair.js'
import { pairDetail } from '../rest/operations/pair-detail.js'
import { ranks, ranksTopics } from '../rest/operations/ranks.js'
import { signalsPublic } from '../rest/operations/signals-public.js'
import { supportedChains } from '../rest/operations/supported-chains.js'
import { tokenDetail } from '../rest/operations/token-detail.js'
import { tokensKeyword } from '../rest/operations/tokens-keyword.js'
import { tokensHolders } from '../rest/operations/tokens-top100.js'
import { tokensTrending } from '../rest/operations/tokens-trending.js'
import { txsSwap } from '../rest/operations/txs-swap.js'
import { SQL_QUERY, SQL_SCHEMA } from '../sql/sql-routes.js'

type Fields = Record<string, unknown>
type Data = (data: unknown) => unknown

export type Tool = {
  name: string
  description: string
  operation: Documented
  /** Arguments of the operation that the tool takes, beside those of the path. */
  takes: readonly string[]
  /** Sent where an argument is not given: an assistant reads less than a program. */
  defaults?: Fields
  /** The part of the operation's data that the tool answers. */
  pick?: Data
}

/** Of a contract, what `holders` answers; the rest is the risk report. */
const HOLDER_FIELDS = [
  'holders',
  'total',
  'burn_amount',
  'creator_address',
  'creator_percent',
  'owner',
  'owner_percent',
]
const NAMES = ['token', 'chain', 'token_symbol', 'token_name']
const LISTS = ['dex', 'token_holders_rank', 'pair_holders_rank']

export const TOOLS: readonly Tool[] = [
  tool('list_chains', 'List the indexed chains and their exchanges.', supportedChains),
  tool(
    'search_tokens',
    'Find tokens by symbol, name or address. Many tokens share a symbol: compare TVL and volume.',
    tokensKeyword,
    { takes: ['keyword', 'chain', 'limit', 'orderby'], defaults: { limit: 10 }, pick: mapItems(tokenSummary) },
  ),
  tool('trending_tokens', 'List the tokens of a chain that are most in demand now.', tokensTrending, {
    ...{ takes: ['chain', 'page_size'], defaults: { page_size: 20 } },
    pick: (data) => mapItems(tokenSummary)((data as Fields).tokens),
  }),
  tool('get_token', 'Get a token: price, market cap, TVL, statistics and its five deepest pairs.', tokenDetail),
  tool('get_pair', 'Get a pair: tokens, prices, reserves, TVL and rolling statistics.', pairDetail),
  tool('get_candles', 'Get candles (open, high, low, close, volume) of a pair, oldest first.', klinesPair, {
    takes: ['interval', 'limit', 'from_time', 'to_time', 'category', 'fill', 'cursor'],
    defaults: { limit: 100 },
  }),
  tool('get_trades', 'Get swaps of a pair. Without times: the latest ones.', txsSwap, {
    takes: ['limit', 'from_time', 'to_time', 'sort', 'cursor'],
    defaults: { limit: 30 },
  }),
  tool(
    'get_holders',
    "Get a token's number of holders and its largest ones, with their share of the supply.",
    contracts,
    {
      pick: (data) => ({ ...only(data, [...NAMES, ...HOLDER_FIELDS]), largest: (data as Fields).token_holders_rank }),
    },
  ),
  tool(
    'get_risk',
    'Get the risk checks of a token. null or -1 means not checked, which is not the same as safe.',
    contracts,
    { pick: (data) => without(data, [...HOLDER_FIELDS, ...LISTS]) },
  ),
  tool(
    'list_holders',
    "List a token's largest holders with balance, share, cost, profit and transfers.",
    tokensHolders,
    {
      takes: ['limit', 'sort_by', 'order'],
      defaults: { limit: 20 },
    },
  ),
  tool('list_rank_topics', 'List the topics of list_ranked_tokens.', ranksTopics),
  tool('list_ranked_tokens', 'List the tokens of a topic, such as hot or gainers. Topics: list_rank_topics.', ranks, {
    ...{ takes: ['topic', 'chain', 'limit'], defaults: { limit: 20 } },
    pick: mapItems(tokenSummary),
  }),
  tool(
    'list_signals',
    'List notable events of the last day: large trades, liquidity, volume breakouts, buys by smart wallets.',
    signalsPublic,
    { takes: ['chain', 'pageSize', 'pageNO'], defaults: { pageSize: 20 }, pick: mapItems(signalSummary) },
  ),
  tool('get_wallet', 'Get the totals of a wallet on a chain: trades, win rate, profit.', addressWalletinfo, {
    takes: ['wallet_address', 'chain'],
  }),
  tool(
    'list_wallet_tokens',
    'List the tokens a wallet traded, with balance, cost and profit.',
    addressWalletinfoTokens,
    {
      takes: ['wallet_address', 'chain', 'sort', 'sort_dir', 'pageSize', 'pageNO'],
      defaults: { pageSize: 20 },
    },
  ),
  tool('get_wallet_profit', 'Get the profit of a wallet in one token.', addressPnl, {
    takes: ['wallet_address', 'chain', 'token_address', 'from_time', 'to_time'],
  }),
  tool('get_wallet_trades', 'Get swaps of a wallet, newest first.', addressTx, {
    takes: ['wallet_address', 'chain', 'token_address', 'from_time', 'to_time', 'page_size', 'cursor'],
    defaults: { page_size: 30 },
  }),
  tool('list_smart_wallets', 'List the wallets of a chain with the highest realised profit.', addressSmartWallets, {
    takes: ['chain', 'interval', 'keyword', 'sort', 'sort_dir', 'page_size', 'pageNO'],
    defaults: { page_size: 20 },
  }),
  tool('sql_schema', 'List the views and columns that run_sql reads. Call it before the first query.', SQL_SCHEMA, {
    pick: (data) => {
      const { views, limits } = data as {
        views: { name: string; summary: string; columns: Fields[] }[]
        limits: unknown
      }
      return { views, limits }
    },
  }),
  tool(
    'run_sql',
    'Run one SELECT in ClickHouse SQL over the views, for questions no other tool answers. Aggregate, and use LIMIT.',
    SQL_QUERY,
    { takes: ['query'] },
  ),
]

function tool(
  name: string,
  description: string,
  operation: Documented,
  { takes = [], ...more }: Partial<Tool> = {},
): Tool {
  return { name, description, operation, takes, ...more }
}

/** JSON Schema of the tool's arguments. */
export function inputSchema({ operation, takes, defaults = {} }: Tool): JsonSchema & { type: 'object' } {
  const properties: Record<string, JsonSchema> = {}
  const required: string[] = []
  for (const declared of [
    operation.params,
    operation.query,
    ...(operation.body === undefined ? [] : [operation.body]),
  ]) {
    const schema = jsonSchema(declared, '2020-12') as { properties?: Record<string, JsonSchema>; required?: string[] }
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (declared !== operation.params && !takes.includes(name)) continue
      const preset = name in defaults ? { default: defaults[name] } : {}
      properties[argumentOf(name)] = { ...property, ...preset }
      if (schema.required?.includes(name)) required.push(argumentOf(name))
    }
  }
  return { type: 'object', properties, required, additionalProperties: false }
}

/** The request of a call. Values are checked by the operation itself. */
export function requestOf(tool: Tool, given: Fields): { method: 'GET' | 'POST'; path: string; body?: Fields } {
  const { operation, defaults = {} } = tool
  const values = { ...defaults, ...given }
  const path = operation.path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(String(values[argumentOf(name)] ?? '')),
  )
  const rest = tool.takes.flatMap((name): [string, unknown][] => (values[name] == null ? [] : [[name, values[name]]]))
  if (operation.method === 'POST') return { method: 'POST', path, body: Object.fromEntries(rest) }
  const query = new URLSearchParams(rest.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return { method: 'GET', path: query === '' ? path : `${path}?${query}` }
}

/** Models write snake_case more reliably than the dashes of path parameters. */
function argumentOf(name: string): string {
  return name.replaceAll('-', '_')
}

function mapItems(map: (item: Fields) => unknown): Data {
  return (data) => (data as Fields[]).map(map)
}

function tokenSummary(token: Fields): Fields {
  return {
    token_id: `${token.token}-${token.chain}`,
    ...only(token, ['symbol', 'name', 'current_price_usd', 'price_change_24h', 'market_cap', 'tvl', 'tx_volume_u_24h']),
    ...only(token, ['holders', 'risk_score', 'created_at']),
    main_pair_id: token.main_pair === '' || token.main_pair == null ? null : `${token.main_pair}-${token.chain}`,
  }
}

function signalSummary(signal: Fields): Fields {
  const actions = signal.actions as Fields[]
  return {
    ...only(signal, ['signal_type', 'signal_time', 'headline', 'symbol']),
    token_id: `${signal.token}-${signal.chain}`,
    pair_id: `${signal.pair_address}-${signal.chain}`,
    events: actions.map((action) =>
      only(action, ['id', 'action_type', 'wallet_address', 'tx_hash', 'quote_token_volume', 'action_time']),
    ),
  }
}

function only(data: unknown, names: readonly string[]): Fields {
  const fields = data as Fields
  return Object.fromEntries(names.map((name) => [name, fields[name] ?? null]))
}

function without(data: unknown, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(data as Fields).filter(([name]) => !names.includes(name)))
}
