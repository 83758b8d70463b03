/** Before a chain is read: are the tokens its money is made of mints there? */
import type { ChainFacts } from '../../../core/domain/chains.js'
import type { Logger } from '../../../core/runtime/logger.js'
import { moneyOf, type RankedToken, refuseUnusable } from '../following/configured-scope.js'
import type { TokenFacts, TokenFactsReader } from './token-facts.js'

/** `facts` null: it is no mint. */
export type CheckedMint = RankedToken & { facts: TokenFacts | null }

/** Fails where a token the user named is no mint; one of the built-in ones is only told of. The tokens as they call themselves. */
export async function checkConfiguredMints(
  reader: TokenFactsReader,
  facts: ChainFacts,
  explicit: ReadonlySet<string>,
  logger: Logger,
  signal: AbortSignal,
): Promise<CheckedMint[]> {
  const money = moneyOf(facts)
  const told = await reader.of(
    money.map(({ token }) => token),
    signal,
  )
  const checked = money.map((ranked) => ({ ...ranked, facts: told.get(ranked.token) ?? null }))
  const unusable = checked
    .filter((one) => one.facts === null)
    .map(({ token, rank }) => ({ token, rank, reason: 'is no mint here' }))
  refuseUnusable(facts.chain, unusable, explicit, 'mints of the Token or the Token-2022 program', logger)
  return checked
}
