import { Type } from '@sinclair/typebox'
import type { TokenInfo } from '../../../core/domain/records.js'
import { decimalOrNull } from '../../views/field-formats.js'
import type { Market } from '../../views/market-facts.js'
import { byMeasure, createShortlist, type Ranked, TOKEN_MEASURES, type TokenMeasure } from '../../views/ranking.js'
import { tokenFields } from '../../views/token-view.js'
import { operation } from '../operation.js'
import { ChainName, limitOf, resolveChains } from '../parameters.js'
import { badRequest } from '../problem.js'
import { viewTokens } from '../view-tokens.js'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 300

/** Curve progress of a token about to graduate. */
const ALMOST = 0.8
/** Platforms accepted before any of their tokens is indexed. */
const KNOWN_PLATFORMS = ['pump', 'fourmeme', 'bonk', 'moonshot', 'nadfun']
/** Tags across all platforms. */
const ANY_PLATFORM = ['meme', 'hot', 'new']
/** A tag across the platforms of one chain. */
const OF_CHAIN: ReadonlyMap<string, string> = new Map([['bsc_hot', 'bsc']])
/** Tags of curated lists: no data of a chain says which tokens are on them, so they are empty. */
const WITHOUT_RULE = ['alpha', 'gold', 'inclusion']
const STAGED = /^([a-z0-9][a-z0-9_.]*?)(?:_all)?_(in_almost|in_hot|in_new|out_hot|out_new)$/

export const TAG_FORMS =
  'meme, hot, new, bsc_hot, <platform>, <platform>_in_almost, <platform>_in_hot, <platform>_in_new, <platform>_out_hot, <platform>_out_new'

export const tokensPlatform = operation({
  id: 'tokensPlatform',
  method: 'GET',
  path: '/v2/tokens/platform',
  summary: 'Tokens by launch platform: on the bonding curve (in), about to graduate (almost), graduated (out)',
  costCu: 10,
  envelope: false,
  params: Type.Object({}),
  query: Type.Object({
    tag: Type.String({ minLength: 1, maxLength: 64, description: TAG_FORMS, examples: ['pump_in_hot', 'meme'] }),
    chain: Type.Optional(ChainName),
    limit: limitOf('tokens', { max: MAX_LIMIT, standard: DEFAULT_LIMIT }),
    orderby: Type.Optional(
      Type.Union([Type.Literal('tx_volume_u_24h'), Type.Literal('main_pair_tvl'), Type.Literal('created_at')], {
        default: 'tx_volume_u_24h',
        description: 'Sort key, descending. Above the limit, `new` tags prefer the latest tokens',
      }),
    ),
  }),
  data: Type.Array(
    Type.Object({
      ...tokenFields,
      launch_progress: Type.Union([Type.String(), Type.Null()], {
        description: 'Filled part of the bonding curve, 0 to 1; null if unknown',
      }),
    }),
  ),
  async handle({ chains, launches }, { query }) {
    const markets = resolveChains(chains, query.chain)
    if (WITHOUT_RULE.includes(query.tag))
      return { data: [], chains: markets.map(({ state }) => state.chain), reason: 'tag_without_rule' }
    const tag = readTag(query.tag, (platform) => isSeen(chains.markets(), platform))
    if (tag === undefined)
      throw badRequest('tag_unknown', `Unknown \`tag\` "${query.tag}". Expected one of ${TAG_FORMS}.`)
    const orderBy = TOKEN_MEASURES[query.orderby ?? 'tx_volume_u_24h']
    // A `new` tag selects by time; the result still has the requested order.
    const chooseBy = tag.newest ? tag.timeS : orderBy
    const listed = createShortlist<Ranked>(query.limit ?? DEFAULT_LIMIT, byMeasure)
    const onlyChain = OF_CHAIN.get(query.tag)
    for (const market of markets) {
      if (onlyChain !== undefined && market.state.chain !== onlyChain) continue
      const isNewest = query.tag === 'new' && query.chain !== undefined && !hasPlatform(market)
      const includes = isNewest ? isDated : tag.includes
      for (const token of market.state.tokens.values()) {
        if (includes(token.info)) listed.offer({ market, token, measure: chooseBy(market, token) })
      }
    }
    const ordered = listed.items().map((one) => ({ ...one, measure: orderBy(one.market, one.token) }))
    ordered.sort(byMeasure)
    const { views: data, isProvisional } = await viewTokens(launches, ordered, (view, token) => ({
      ...view,
      launch_progress: decimalOrNull(token.info.launch_progress),
    }))
    return { data, chains: markets.map(({ state }) => state.chain), isProvisional }
  },
})

/** Without a launch platform, `new` lists the newest of all tokens of the chain. */
function hasPlatform({ state }: Market): boolean {
  for (const { info } of state.tokens.values()) if (isLaunched(info)) return true
  return false
}

function isSeen(markets: readonly Market[], platform: string): boolean {
  for (const { state } of markets) {
    for (const { info } of state.tokens.values()) if (info.launch_platform === platform) return true
  }
  return false
}

/** A parsed tag. */
export type PlatformTag = {
  includes(token: TokenInfo): boolean
  /** Above the limit, the latest are preferred. */
  newest: boolean
  /** The time that selects a `new` list. */
  timeS: TokenMeasure
}

/** Undefined for an unknown tag. `isSeen`: whether any token comes from that platform. */
export function readTag(tag: string, isSeen: (platform: string) => boolean): PlatformTag | undefined {
  const staged = STAGED.exec(tag)
  const [platform, stage] = staged === null ? [tag, ''] : [staged[1] ?? '', staged[2] ?? '']
  if (ANY_PLATFORM.includes(tag) || OF_CHAIN.has(tag))
    return { includes: isLaunched, newest: tag === 'new', timeS: createdS }
  if (staged === null && !KNOWN_PLATFORMS.includes(tag) && !isSeen(tag)) return undefined
  const out = stage.startsWith('out')
  const fits = stage === '' ? isLaunched : stage === 'in_almost' ? isAlmost : out ? isOut : isIn
  return {
    includes: (info) => info.launch_platform === platform && fits(info),
    newest: stage.endsWith('new'),
    timeS: out ? graduatedS : createdS,
  }
}

const isDated = (info: TokenInfo): boolean => info.created_at > 0
const isLaunched = (info: TokenInfo): boolean => info.launch_platform !== null
const isOut = (info: TokenInfo): boolean => info.launch_stage === 'graduated'
const isIn = (info: TokenInfo): boolean => !isOut(info)
const isAlmost = (info: TokenInfo): boolean => isIn(info) && info.launch_progress >= ALMOST
const createdS: TokenMeasure = (_market, { info }) => info.created_at

/** A token graduates into a new pool. */
const graduatedS: TokenMeasure = ({ state }, { info }) =>
  state.pairs.get(info.launch_pool ?? '')?.info.created_at ?? info.launch_at
