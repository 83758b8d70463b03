/** How a trial trades in a pool, by the exchange's protocol. */
import { ZERO_ADDRESS } from '../../../../core/domain/chains.js'
import { DYNAMIC_FEE, idOf } from '../protocols/uniswap-v4/pool-key.js'
import type { Venue } from '../venue.js'
import type { TrialVenue } from './trade-trial.js'

const KINDS: ReadonlyMap<string, 'v2' | 'solidly' | 'v3'> = new Map([
  ['uniswap-v2', 'v2'],
  ['solidly', 'solidly'],
  ...(['uniswap-v3', 'pancake-v3', 'slipstream', 'algebra'] as const).map((name) => [name, 'v3'] as const),
])

/** Null: a trial cannot use it. The places are those of the token and of the money it is traded for. */
export function trialVenue(
  venue: Venue,
  tokenPlace: number,
  quotePlace: number,
  wrappedNative: string | undefined,
): TrialVenue | null {
  const { protocol, tokens, facts = {} } = venue
  const kind = KINDS.get(protocol)
  if (kind !== undefined) return tokens.length === 2 ? { kind } : null
  // Its older pools take the coin itself, which events call by the token that wraps it.
  const mayTakeCoin = tokens[quotePlace] === wrappedNative && facts.isCrypto !== true
  if (protocol === 'curve') return mayTakeCoin ? null : { kind: 'curve', tokenPlace, quotePlace }
  if (protocol === 'uniswap-v4') return v4Venue(venue)
  if (protocol === 'balancer') return { kind: 'balancer', vault: String(facts.vault), poolId: String(facts.poolId) }
  return protocol === 'balancer-v3' ? { kind: 'balancer-v3', vault: String(facts.vault) } : null
}

/** The pool's id shows whether its first currency is the chain's coin or the token that wraps it. */
function v4Venue({ id, tokens, fee, facts = {} }: Venue): TrialVenue | null {
  const [token0, token1] = tokens
  if (token0 === undefined || token1 === undefined) return null
  const key = { fee: fee ?? DYNAMIC_FEE, tickSpacing: Number(facts.tickSpacing), hooks: String(facts.hooks) }
  for (const isNative of [false, true]) {
    const currencies = [isNative ? ZERO_ADDRESS : token0, token1] as const
    if (idOf({ currencies, ...key }) !== id) continue
    const { fee: keyFee, tickSpacing, hooks } = key
    return { kind: 'v4', manager: String(facts.manager), keyFee, tickSpacing, hooks, isNative }
  }
  return null
}
