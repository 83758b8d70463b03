/** Refuses tokens whose holders cannot all be known. */
import { ConfigError } from '../../../../core/domain/errors.js'
import { homeOf } from '../../following/configured-scope.js'
import type { TokenFactsReader } from '../token-facts.js'

export async function checkHeldTokens(
  reader: Pick<TokenFactsReader, 'of'>,
  chain: string,
  tokens: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (tokens.length === 0) return
  const facts = await reader.of(tokens, signal)
  const refused = tokens.flatMap((token) => {
    const found = facts.get(token)
    if (found === undefined) return [`${token} is not a mint on this cluster${homeOf(token, chain)}`]
    // SOL is in every account, and most of it is not wrapped.
    return found.totalSupply === null ? [`${token} is SOL, whose accounts nodes do not list`] : []
  })
  if (refused.length === 0) return
  throw new ConfigError({
    code: 'scope_token',
    what: `Cannot know all holders of a token: ${refused.join('; ')}`,
    where: { chain },
    fix: `Check the addresses in "chains.${chain}.holders" (--holders), and the chain`,
  })
}
