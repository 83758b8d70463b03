/** Before a chain is read: are the tokens its money is made of tokens there? An address of another chain would price nothing, in silence. */
import type { ChainFacts } from '../../../core/domain/chains.js'
import type { Logger } from '../../../core/runtime/logger.js'
import { readToken, type TokenFacts } from '../../decode/evm/erc20.js'
import { moneyOf, type RankedToken, refuseUnusable } from '../following/configured-money.js'
import type { ChainReader } from './chain-reader.js'
import { readAll } from './read-all.js'

export type CheckedToken = RankedToken & { facts: TokenFacts }

/** Fails where a token the user named cannot be used; one of the built-in ones is only told of. The tokens as they call themselves. */
export async function checkConfiguredTokens(
  reader: Pick<ChainReader, 'head' | 'call'>,
  facts: ChainFacts,
  explicit: ReadonlySet<string>,
  logger: Logger,
  signal: AbortSignal,
): Promise<CheckedToken[]> {
  const money = moneyOf(facts)
  if (money.length === 0) return []
  const at = await reader.head(signal)
  const told = await readAll(
    money.map(({ token }) => ({ at, reading: readToken(token) })),
    reader,
    signal,
  )
  const checked = money.map((ranked, place) => ({ ...ranked, facts: told[place] as TokenFacts }))
  const broken = checked.filter((one) => one.facts.decimals === null)
  const unusable = broken.map(({ token, rank, facts: told }) => ({ token, rank, reason: reasonOf(told) }))
  refuseUnusable(facts.chain, unusable, explicit, 'contracts that tell their decimals', logger)
  return checked
}

function reasonOf({ name, symbol, totalSupply }: TokenFacts): string {
  if (name === null && symbol === null && totalSupply === null) return 'has no token’s contract here'
  return `(${symbol ?? name ?? 'without a name'}) does not tell its decimals`
}
