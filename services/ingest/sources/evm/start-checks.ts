/** Before a chain is read: are the tokens its money is made of tokens there? An address of another chain would price nothing, in silence. */
import { BUILT_IN_CHAINS } from '../../../core/config/built-in-chains.js'
import type { ChainFacts, ChainMoney } from '../../../core/domain/chains.js'
import { ConfigError } from '../../../core/domain/errors.js'
import type { Logger } from '../../../core/runtime/logger.js'
import { readToken, type TokenFacts } from '../../decode/evm/erc20.js'
import type { ChainReader } from './chain-reader.js'
import { readAll } from './read-all.js'

export type CheckedToken = { token: string; rank: string; facts: TokenFacts }

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
  const named = broken.filter(({ token }) => explicit.has(token))
  if (named.length > 0) throw unusable(facts.chain, named)
  if (broken.length > 0)
    logger.warn('tokens known of this chain are not on it: nothing is priced by them', {
      chain: facts.chain,
      tokens: broken.map(({ token, rank }) => `${rank} ${token}`),
    })
  return checked
}

function moneyOf({ anchor, native, stables, majors }: ChainMoney): { token: string; rank: string }[] {
  return [
    ...(anchor === undefined ? [] : [{ token: anchor, rank: 'anchor' }]),
    ...(native === undefined ? [] : [{ token: native, rank: 'native' }]),
    ...stables.map((token) => ({ token, rank: 'stables' })),
    ...majors.map((token) => ({ token, rank: 'majors' })),
  ]
}

function unusable(chain: string, broken: readonly CheckedToken[]): ConfigError {
  const reasons = broken.map(({ token, rank, facts }) => `"${rank}" ${token} ${reasonOf(facts)}${homeOf(token, chain)}`)
  return new ConfigError({
    code: 'configured_token',
    what: `A configured token is none on this chain: ${reasons.join('; ')}`,
    where: { chain },
    expected: 'contracts that tell their decimals',
    fix: `Give the addresses these tokens have on ${chain} in "chains.${chain}", or leave them out.`,
  })
}

function reasonOf({ name, symbol, totalSupply }: TokenFacts): string {
  if (name === null && symbol === null && totalSupply === null) return 'has no token’s contract here'
  return `(${symbol ?? name ?? 'without a name'}) does not tell its decimals`
}

/** Most such mistakes are an address copied from another chain's list. */
function homeOf(token: string, chain: string): string {
  const homes = BUILT_IN_CHAINS.filter((facts) => facts.chain !== chain).flatMap((facts) =>
    moneyOf(facts)
      .filter((ranked) => ranked.token === token)
      .map(({ rank }) => `${facts.chain} (its ${rank === 'stables' ? 'stable' : rank === 'majors' ? 'major' : rank})`),
  )
  return homes.length === 0 ? '' : `, it is a token of ${homes.join(', ')}`
}
