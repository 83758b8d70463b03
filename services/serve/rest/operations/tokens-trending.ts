import { Type } from '@sinclair/typebox'
import { dayVolumeUsd } from '../../../core/domain/packed-windows.js'
import type { TokenState } from '../../memory/served-chain.js'
import { dayMakers, dayTrades, hourVolumeUsd } from '../../memory/windows.js'
import { int } from '../../views/field-formats.js'
import type { Market } from '../../views/market-facts.js'
import { byText, createShortlist } from '../../views/ranking.js'
import { TokenView } from '../../views/token-view.js'
import { type Answer, type OperationContext, operation } from '../operation.js'
import { ChainName, NextCursor, resolveChain } from '../parameters.js'
import { badRequest } from '../problem.js'
import { viewTokens } from '../view-tokens.js'

const DEFAULT_PAGE_SIZE = 50
const MAX_PAGE_SIZE = 100
const MAX_PAGE = 1_000_000
const LAST_PAGE = -1

/** Volume above this multiple of the liquidity counts as wash trading. */
const MOST_TURNOVER = 10

type Scored = { token: TokenState; group: number; score: number }
const IN_DEMAND = 0
const LIQUIDITY_UNKNOWN = 1
const MONEY = 2

export const tokensTrending = operation({
  id: 'tokensTrending',
  method: 'GET',
  path: '/v2/tokens/trending',
  summary: 'Trending tokens of a chain',
  costCu: 5,
  envelope: false,
  params: Type.Object({}),
  query: Type.Object({
    chain: ChainName,
    current_page: Type.Optional(
      Type.Integer({ minimum: 0, maximum: MAX_PAGE, default: 0, description: 'Page number, starting at 0' }),
    ),
    page_size: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE, description: 'Tokens per page' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, description: 'Alias of page_size' })),
    cursor: Type.Optional(
      Type.String({
        maxLength: 200,
        description: '`start`, then `next_cursor`: pages of one order, which later trades do not change',
      }),
    ),
  }),
  data: Type.Object({
    current_page_size: Type.Integer({ description: 'Tokens on this page' }),
    next_page: Type.Integer({ description: 'Next page number; -1 on the last page' }),
    total: int,
    next_cursor: NextCursor,
    tokens: Type.Array(TokenView),
  }),
  async handle({ chains, launches }, { query }) {
    const market = resolveChain(chains, query.chain)
    const page = query.current_page ?? 0
    const pageSize = query.page_size ?? query.limit ?? DEFAULT_PAGE_SIZE
    if (query.cursor !== undefined) return keptPage(launches, market, query.cursor, pageSize)
    const { tokens, total } = trending(market, page, pageSize)
    const { views, isProvisional } = await viewPage(launches, market, tokens)
    const data = {
      current_page_size: views.length,
      next_page: (page + 1) * pageSize < total ? page + 1 : LAST_PAGE,
      total,
      tokens: views,
    }
    return { data, chains: [market.state.chain], isProvisional, ...(total === 0 ? { reason: 'no_trades' } : {}) }
  },
})

/** The order at the time of a first page, so that the next pages neither skip nor repeat a token. */
type KeptOrder = { tokens: readonly string[]; total: number }
const MOST_KEPT_ORDERS = 50
const MOST_KEPT_TOKENS = 10_000
const keptOrders = new Map<string, KeptOrder>()
let lastOrder = 0

type Launches = OperationContext['launches']

function viewPage(launches: Launches, market: Market, tokens: readonly TokenState[]) {
  const items = tokens.map((token) => ({ market, token }))
  return viewTokens(launches, items, (view) => view)
}

async function keptPage(
  launches: Launches,
  market: Market,
  cursor: string,
  pageSize: number,
): Promise<Answer<unknown>> {
  const { state } = market
  const [name = '', from = '0'] = cursor === 'start' ? [keepOrder(market)] : cursor.split('.')
  const order = keptOrders.get(`${state.chain} ${name}`)
  const start = Number(from)
  if (order === undefined || !Number.isSafeInteger(start) || start < 0)
    throw badRequest('cursor_invalid', 'Invalid or expired `cursor`. Start again with `cursor=start`.')
  const end = start + pageSize
  // A reorg may have removed a token.
  const tokens = order.tokens.slice(start, end).flatMap((address) => state.tokens.get(address) ?? [])
  const isLast = end >= order.tokens.length
  const { views } = await viewPage(launches, market, tokens)
  const data = {
    ...{ current_page_size: views.length, next_page: LAST_PAGE, total: order.total },
    ...(isLast ? {} : { next_cursor: `${name}.${end}` }),
    tokens: views,
  }
  const reason = order.total === 0 ? { reason: 'no_trades' } : {}
  return { data, chains: [state.chain], isProvisional: true, ...reason }
}

function keepOrder(market: Market): string {
  const { tokens, total } = trending(market, 0, MOST_KEPT_TOKENS)
  lastOrder += 1
  const name = `t${lastOrder}`
  keptOrders.set(`${market.state.chain} ${name}`, { tokens: tokens.map(({ token }) => token), total })
  const [oldest] = keptOrders.keys()
  if (keptOrders.size > MOST_KEPT_ORDERS && oldest !== undefined) keptOrders.delete(oldest)
  return name
}

/** A page of the tokens traded in the last 24 hours, highest demand first, and their total number. */
export function trending(market: Market, page: number, pageSize: number): { tokens: TokenState[]; total: number } {
  const listed = createShortlist<Scored>((page + 1) * pageSize, byDemand)
  let total = 0
  for (const token of market.state.tokens.values()) {
    if (dayTrades(token.windows) === 0) continue
    const group = isMoney(market, token) ? MONEY : Number.isNaN(token.tvl) ? LIQUIDITY_UNKNOWN : IN_DEMAND
    listed.offer({ token, group, score: demand(token) })
    total += 1
  }
  const upTo = listed.items()
  return { tokens: upTo.slice(page * pageSize).map(({ token }) => token), total }
}

/** Daily volume at the mean of the last day's and the last hour's rate, capped by liquidity and weighted by makers. */
export function demand({ windows, tvl }: TokenState): number {
  return demandOf((dayVolumeUsd(windows) + 24 * hourVolumeUsd(windows)) / 2, tvl, dayMakers(windows))
}

/** `paceUsd`: volume per day. */
export function demandOf(paceUsd: number, tvl: number, makers: number): number {
  const borneUsd = Number.isNaN(tvl) ? paceUsd : Math.min(paceUsd, MOST_TURNOVER * tvl)
  return borneUsd * Math.log2(1 + makers)
}

/** The chain's own money: native coin, anchor and stables. */
export function isMoney({ facts }: Market, { token }: TokenState): boolean {
  return token === facts?.native || token === facts?.anchor || (facts?.stables.includes(token) ?? false)
}

function byDemand(a: Scored, b: Scored): number {
  return a.group - b.group || b.score - a.score || byText(a.token.token, b.token.token)
}
