/** What a visitor should know before trading a token. */
import type { TokensKeywordItem } from '@dextape/client'
import { texts } from '../app/texts.js'
import { toNumber } from './format.js'

type Token = Pick<
  TokensKeywordItem,
  'token' | 'chain' | 'symbol' | 'main_pair_tvl' | 'tvl' | 'risk_level' | 'is_honeypot' | 'is_mintable'
> &
  Partial<Pick<TokensKeywordItem, 'is_lp_not_locked' | 'is_in_blacklist'>>

/** A token with less than this part of the liquidity of its namesake is suspicious. */
const IMPOSTOR_PART = 0.2

/** Ids of tokens whose symbol another token of the chain has with far more liquidity. */
export function findImpostors(tokens: readonly Token[]): Set<string> {
  const depth = (token: Token) => toNumber(token.tvl) || toNumber(token.main_pair_tvl) || 0
  const deepest = new Map<string, number>()
  const nameOf = ({ symbol, chain }: Token) => `${symbol.trim().toLowerCase()} ${chain}`
  for (const token of tokens) deepest.set(nameOf(token), Math.max(depth(token), deepest.get(nameOf(token)) ?? 0))
  const isImpostor = (token: Token) =>
    token.symbol !== '' && depth(token) < IMPOSTOR_PART * (deepest.get(nameOf(token)) ?? 0)
  return new Set(tokens.filter(isImpostor).map(({ token, chain }) => `${token}-${chain}`))
}

export function RiskMarks({ token, isImpostor, all = false }: { token: Token; isImpostor: boolean; all?: boolean }) {
  const words = texts.risk
  const marks: [string, string, 'bad' | 'warn'][] = []
  if (isImpostor) marks.push([words.impostor, words.impostorWhy(token.symbol), 'bad'])
  if (token.is_honeypot === 1) marks.push([words.honeypot, words.honeypotWhy, 'bad'])
  else if (token.risk_level < 0) marks.push([words.high, words.highWhy, 'bad'])
  if (all && token.is_mintable === 1) marks.push([words.mintable, words.mintableWhy, 'warn'])
  if (all && token.is_lp_not_locked === 1) marks.push([words.unlocked, words.unlockedWhy, 'warn'])
  if (all && token.is_in_blacklist === 1) marks.push([words.blacklist, words.blacklistWhy, 'warn'])
  return (
    <>
      {marks.map(([label, why, tone]) => (
        <span key={label} class={`mark ${tone}`} title={why}>
          {label}
        </span>
      ))}
    </>
  )
}
