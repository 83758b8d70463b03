/** What a visitor should know before trading a token. */
import type { TokensKeywordItem } from '@dextape/client'
import { texts } from '../app/texts.js'

type Token = Pick<TokensKeywordItem, 'risk_level' | 'is_honeypot' | 'is_mintable' | 'flags'> &
  Partial<Pick<TokensKeywordItem, 'is_lp_not_locked' | 'is_in_blacklist'>>

/** It looks like one of the chain's own tokens, and is not it. */
export const isLookalike = ({ flags }: Pick<Token, 'flags'>): boolean => flags.includes('lookalike')

/** Its texts hide or turn around what a visitor reads. */
const ODD_NAMES = ['reversed_text', 'hidden_characters', 'long_name']

export function RiskMarks({ token, all = false }: { token: Token; all?: boolean }) {
  const words = texts.risk
  const marks: [string, string, 'bad' | 'warn'][] = []
  if (isLookalike(token)) marks.push([words.impostor, words.impostorWhy, 'bad'])
  if (token.flags.some((flag) => ODD_NAMES.includes(flag))) marks.push([words.oddName, words.oddNameWhy, 'warn'])
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
