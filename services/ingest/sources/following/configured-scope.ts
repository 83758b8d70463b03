/**
 * The tokens and pools a chain's configuration names. A money token that does not exist on the chain is reported: an
 * address of another chain would silently price nothing.
 */

import { BUILT_IN_CHAINS } from '../../../core/config/built-in-chains.js'
import type { ChainScope } from '../../../core/config/node-source.js'
import type { ChainMoney } from '../../../core/domain/chains.js'
import { ConfigError } from '../../../core/domain/errors.js'
import type { Logger } from '../../../core/runtime/logger.js'
import type { Scope } from '../../decode/scope.js'

export type RankedToken = { token: string; rank: string }

/** `reason` continues a sentence that starts with the address. */
export type UnusableToken = RankedToken & { reason: string }

export function moneyOf({ anchor, native, stables, majors }: ChainMoney): RankedToken[] {
  return [
    ...(anchor === undefined ? [] : [{ token: anchor, rank: 'anchor' }]),
    ...(native === undefined ? [] : [{ token: native, rank: 'native' }]),
    ...stables.map((token) => ({ token, rank: 'stables' })),
    ...majors.map((token) => ({ token, rank: 'majors' })),
  ]
}

/** Fails if a token the user configured is unusable; for a built-in one it only warns. `expected`: what they should be. */
export function refuseUnusable(
  chain: string,
  unusable: readonly UnusableToken[],
  explicit: ReadonlySet<string>,
  expected: string,
  logger: Logger,
): void {
  const named = unusable.filter(({ token }) => explicit.has(token))
  if (named.length > 0) throw refusal(chain, named, expected)
  if (unusable.length > 0)
    logger.warn('built-in tokens are missing on this chain and price nothing', {
      chain,
      tokens: unusable.map(({ token, rank }) => `${rank} ${token}`),
    })
}

function refusal(chain: string, unusable: readonly UnusableToken[], expected: string): ConfigError {
  const reasons = unusable.map(({ token, rank, reason }) => `"${rank}" ${token} ${reason}${homeOf(token, chain)}`)
  return new ConfigError({
    code: 'configured_token',
    what: `Configured token not found on this chain: ${reasons.join('; ')}`,
    where: { chain },
    expected,
    fix: `Set their addresses on ${chain} in "chains.${chain}", or remove them.`,
  })
}

/** Most such mistakes are addresses copied from another chain's list. */
export function homeOf(token: string, chain: string): string {
  const homes = BUILT_IN_CHAINS.filter((facts) => facts.chain !== chain).flatMap((facts) =>
    moneyOf(facts)
      .filter((ranked) => ranked.token === token)
      .map(({ rank }) => `${facts.chain} (its ${rank === 'stables' ? 'stable' : rank === 'majors' ? 'major' : rank})`),
  )
  return homes.length === 0 ? '' : `, it is a token of ${homes.join(', ')}`
}

/** `references`: pools followed besides the configured ones, for USD prices. */
export const decodedScope = (
  { pools, tokens, amms, balances, holders }: ChainScope,
  references: readonly string[],
): Scope => ({
  pools: new Set([...pools, ...references]),
  tokens: new Set(tokens),
  amms: new Set(amms),
  balances,
  ...(holders === undefined ? {} : { holders: new Set(holders) }),
})

/** Tokens that rank as money. */
export const moneySet = (money: ChainMoney): ReadonlySet<string> => new Set(moneyOf(money).map(({ token }) => token))
