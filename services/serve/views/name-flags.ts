/** What a token's own texts try to make a reader believe. */

import { hasDirectionMarks, hasInvisible, isWebAddress, skeletonOf } from '../../core/domain/name-text.js'
import type { TokenInfo } from '../../core/domain/records.js'
import type { ServedChain, TokenState } from '../memory/served-chain.js'
import { NO_SLOT } from '../memory/token-state.js'
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
  /** ASCII characters that a text which looks like one of them can begin with. */
  starts: ReadonlySet<number>
  /** By slot, of which texts never change. */
  verdicts: Uint8Array
}
const moneyOf = new WeakMap<ServedChain, Money>()

function readMoney({ state, facts }: Market): Money {
  const { native, anchor, stables = [], majors = [] } = facts ?? {}
  const known = moneyOf.get(state)
  const addresses = known?.addresses ?? new Set([native, anchor, ...stables, ...majors].flatMap((one) => one ?? []))
  const infos = [...addresses].map((address) => state.tokens.get(address)?.info)
  if (known !== undefined && infos.every((info, at) => info === known.infos[at])) return known
  const skeletons = new Set(infos.flatMap((info) => (info === undefined ? [] : look(info).skeletons)))
  const money = { addresses, infos, skeletons, starts: startsOf(skeletons), verdicts: new Uint8Array(0) }
  moneyOf.set(state, money)
  return money
}

type NamedToken = Pick<TokenState, 'token' | 'info' | 'slot'>

/** It has the symbol or name of one of the chain's configured tokens, or what looks like it, and is not it. */
export function isLookalike(market: Market, token: NamedToken): boolean {
  const money = readMoney(market)
  const { slot } = token
  if (slot === NO_SLOT) return looksLikeMoney(money, token)
  const known = money.verdicts[slot] ?? UNDECIDED
  if (known !== UNDECIDED) return known === LOOKALIKE
  const verdict = looksLikeMoney(money, token)
  if (slot >= money.verdicts.length) {
    const larger = new Uint8Array(2 * (slot + 1))
    larger.set(money.verdicts)
    money.verdicts = larger
  }
  money.verdicts[slot] = verdict ? LOOKALIKE : DIFFERENT
  return verdict
}

/** Tells of slots that were found to be one before, without reading their tokens. */
export function knownLookalikes(market: Market): (slot: number) => boolean {
  const money = readMoney(market)
  return (slot) => money.verdicts[slot] === LOOKALIKE
}

const UNDECIDED = 0
const DIFFERENT = 1
const LOOKALIKE = 2

function looksLikeMoney({ addresses, skeletons, starts }: Money, { token, info }: NamedToken): boolean {
  if (addresses.has(token)) return false
  const isAlike = (text: string | null): boolean => {
    if (text === null || text === '') return false
    const first = text.charCodeAt(0)
    return (first >= ASCII_END || starts.has(first)) && skeletons.has(skeletonOf(text))
  }
  return isAlike(info.symbol) || isAlike(info.name)
}

const ASCII_END = 128

/** Most names differ in their first character from all of them, and are not looked at any further. */
function startsOf(skeletons: ReadonlySet<string>): Set<number> {
  const firsts = new Set([...skeletons].map(([first]) => first))
  const canStart = (character: string): boolean => {
    const skeleton = skeletonOf(character)
    // Two characters that look like one, or nothing that is drawn.
    return skeleton === '' || skeleton === 'r' || skeleton === 'v' || firsts.has(skeleton)
  }
  return new Set(
    Array.from({ length: ASCII_END }, (_, code) => code).filter((code) => canStart(String.fromCharCode(code))),
  )
}

export function nameFlags(market: Market, token: NamedToken): NameFlag[] {
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
