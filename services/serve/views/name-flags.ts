/** What a token's own texts try to make a reader believe. */

import { hasDirectionMarks, hasInvisible, isWebAddress, skeletonOf } from '../../core/domain/name-text.js'
import type { TokenInfo } from '../../core/domain/records.js'
import type { ServedChain, TokenState } from '../memory/served-chain.js'
import type { Market } from './market-facts.js'

export const NAME_FLAGS = ['lookalike', 'reversed_text', 'hidden_characters', 'long_name'] as const
export type NameFlag = (typeof NAME_FLAGS)[number]

/** Longer ones are cut by most screens. */
const LONG_NAME = 64
const LONG_SYMBOL = 32

/** Found once for each description of a token: a changed one is another object. */
type Seen = { skeletons: readonly string[]; flags: readonly NameFlag[]; links: string; logo: string }
const seen = new WeakMap<TokenInfo, Seen>()

function look(info: TokenInfo): Seen {
  const known = seen.get(info)
  if (known !== undefined) return known
  const { name, symbol } = info
  const texts = [symbol, name].filter((text): text is string => text !== null && text !== '')
  const flags: NameFlag[] = []
  if (texts.some(hasDirectionMarks)) flags.push('reversed_text')
  if (texts.some(hasInvisible)) flags.push('hidden_characters')
  if ((name?.length ?? 0) > LONG_NAME || (symbol?.length ?? 0) > LONG_SYMBOL) flags.push('long_name')
  const found = {
    ...{ skeletons: texts.map(skeletonOf).filter((text) => text !== ''), flags },
    ...{ links: safeLinks(info.links ?? ''), logo: isWebAddress(info.logo_url ?? '') ? (info.logo_url ?? '') : '' },
  }
  seen.set(info, found)
  return found
}

/** Texts of the chain's own money, as they look; found again when one of these tokens is described anew. */
type Money = {
  addresses: ReadonlySet<string>
  infos: readonly (TokenInfo | undefined)[]
  skeletons: ReadonlySet<string>
}
const moneyOf = new WeakMap<ServedChain, Money>()

function readMoney({ state, facts }: Market): Money {
  const { native, anchor, stables = [], majors = [] } = facts ?? {}
  const known = moneyOf.get(state)
  const addresses = known?.addresses ?? new Set([native, anchor, ...stables, ...majors].flatMap((one) => one ?? []))
  const infos = [...addresses].map((address) => state.tokens.get(address)?.info)
  if (known !== undefined && infos.every((info, at) => info === known.infos[at])) return known
  const skeletons = new Set(infos.flatMap((info) => (info === undefined ? [] : look(info).skeletons)))
  const money = { addresses, infos, skeletons }
  moneyOf.set(state, money)
  return money
}

/** It has the symbol or name of one of the chain's configured tokens, or what looks like it, and is not it. */
export function isLookalike(market: Market, { token, info }: Pick<TokenState, 'token' | 'info'>): boolean {
  const { addresses, skeletons } = readMoney(market)
  return !addresses.has(token) && look(info).skeletons.some((text) => skeletons.has(text))
}

export function nameFlags(market: Market, token: Pick<TokenState, 'token' | 'info'>): NameFlag[] {
  const { flags } = look(token.info)
  return isLookalike(market, token) ? ['lookalike', ...flags] : [...flags]
}

export const linksOf = ({ info }: Pick<TokenState, 'info'>): string => look(info).links
export const logoOf = ({ info }: Pick<TokenState, 'info'>): string => look(info).logo

/** A page may make a link of each: those of another scheme (`javascript:`, `data:`) are left out. Names without one stay. */
function safeLinks(text: string): string {
  if (text === '') return ''
  try {
    const links = JSON.parse(text) as Record<string, unknown>
    const safe = Object.entries(links).filter(([, value]) => typeof value !== 'string' || !hasOtherScheme(value))
    return safe.length === Object.keys(links).length ? text : JSON.stringify(Object.fromEntries(safe))
  } catch {
    return ''
  }
}

/** Browsers ignore spaces and control characters in and before a scheme. */
function hasOtherScheme(value: string): boolean {
  const bare = value.replaceAll(/[\p{Cc}\p{Cf}\s]/gu, '')
  return /^[a-z][a-z0-9+.-]*:/i.test(bare) && !isWebAddress(bare)
}
