/** Before a chain is read: checks that its money tokens are mints. */
import type { ChainFacts } from '../../../core/domain/chains.js'
import type { Logger } from '../../../core/runtime/logger.js'
import { moneyOf, type RankedToken, refuseUnusable } from '../following/configured-scope.js'
import type { TokenFacts, TokenFactsReader } from './token-facts.js'

/** `facts` null: not a mint. */
export type CheckedMint = RankedToken & { facts: TokenFacts | null }

/** Throws if a configured token is not a mint; a built-in one is only logged. Returns the tokens with their facts. */
export async function checkConfiguredMints(
  reader: TokenFactsReader,
  facts: ChainFacts,
  explicit: ReadonlySet<string>,
  logger: Logger,
  signal: AbortSignal,
): Promise<CheckedMint[]> {
  const money = moneyOf(facts)
  const found = await reader.of(
    money.map(({ token }) => token),
    signal,
  )
  const checked = money.map((ranked) => ({ ...ranked, facts: found.get(ranked.token) ?? null }))
  const unusable = checked
    .filter((one) => one.facts === null)
    .map(({ token, rank }) => ({ token, rank, reason: 'is not a mint on this cluster' }))
  refuseUnusable(facts.chain, unusable, explicit, 'mints of the Token or the Token-2022 program', logger)
  return checked
}
