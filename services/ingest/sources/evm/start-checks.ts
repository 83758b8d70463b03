/**
 * Checks before a chain is read that its money tokens and its scope's tokens exist there: an address of another chain
 * would silently price nothing.
 */
import type { ChainFacts } from '../../../core/domain/chains.js'
import { ConfigError } from '../../../core/domain/errors.js'
import type { Logger } from '../../../core/runtime/logger.js'
import { readToken, type TokenFacts } from '../../decode/evm/erc20.js'
import { homeOf, moneyOf, type RankedToken, refuseUnusable } from '../following/configured-scope.js'
import type { ChainReader } from './chain-reader.js'
import { readAll } from './read-all.js'

export type CheckedToken = RankedToken & { facts: TokenFacts }

/** Fails if a token the user configured is unusable; for a built-in one it only warns. Returns the tokens with their on-chain facts. */
export async function checkConfiguredTokens(
  reader: Pick<ChainReader, 'head' | 'call'>,
  facts: ChainFacts,
  explicit: ReadonlySet<string>,
  logger: Logger,
  signal: AbortSignal,
): Promise<CheckedToken[]> {
  const money = moneyOf(facts)
  if (facts.anchor === undefined && facts.stables.length === 0)
    logger.warn('the chain has neither "anchor" nor "stables": there are no USD prices', { chain: facts.chain })
  if (money.length === 0) return []
  const tokenFacts = await readTokens(
    money.map(({ token }) => token),
    reader,
    signal,
  )
  const checked = money.map((ranked, place) => ({ ...ranked, facts: tokenFacts[place] as TokenFacts }))
  const broken = checked.filter((one) => one.facts.decimals === null)
  const unusable = broken.map(({ token, rank, facts: tokenFacts }) => ({ token, rank, reason: reasonOf(tokenFacts) }))
  refuseUnusable(facts.chain, unusable, explicit, 'token contracts that return decimals()', logger)
  return checked
}

/** A mistyped token would silently match no pool. One without decimals() still counts as a token. */
export async function checkScopeTokens(
  reader: Pick<ChainReader, 'head' | 'call'>,
  chain: string,
  tokens: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (tokens.length === 0) return
  const tokenFacts = await readTokens(tokens, reader, signal)
  const refused = tokens.filter((_, place) => hasNoFacts(tokenFacts[place] as TokenFacts))
  if (refused.length === 0) return
  throw new ConfigError({
    code: 'scope_token',
    what: `Cannot follow token: ${refused.map((token) => `${token} has no token contract on this chain${homeOf(token, chain)}`).join('; ')}`,
    where: { chain },
    fix: `Check the addresses in "chains.${chain}.tokens" (--token) and "holders" (--holders), and the chain`,
  })
}

async function readTokens(
  tokens: readonly string[],
  reader: Pick<ChainReader, 'head' | 'call'>,
  signal: AbortSignal,
): Promise<TokenFacts[]> {
  const at = await reader.head(signal)
  return readAll(
    tokens.map((token) => ({ at, reading: readToken(token) })),
    reader,
    signal,
  )
}

const hasNoFacts = ({ decimals, name, symbol, totalSupply }: TokenFacts): boolean =>
  decimals === null && name === null && symbol === null && totalSupply === null

function reasonOf(facts: TokenFacts): string {
  const { name, symbol } = facts
  if (hasNoFacts(facts)) return 'has no token contract on this chain'
  return `(${symbol ?? name ?? 'unnamed'}) does not return its decimals`
}
