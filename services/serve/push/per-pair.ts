import type { PairInfo, TokenInfo } from '../../core/domain/records.js'
import type { PairAt, PairSnapshot } from './update-snapshot.js'

/**
 * Keeps what is made from the facts of a pair that do not change with its trades, as long as memory keeps those facts.
 * `make` may use the chain, and the pair's address and info.
 */
export function perPair<Made>(make: (at: PairAt) => Made): (at: PairAt) => Made {
  const kept = new WeakMap<PairInfo, { chain: string; pair: string; made: Made }>()
  return (at) => {
    const { chain } = at
    const { pair, info } = at.pair
    const known = kept.get(info)
    if (known?.pair === pair && known.chain === chain) return known.made
    const made = make(at)
    kept.set(info, { chain, pair, made })
    return made
  }
}

/** As `perPair`, and `make` may also use the info of the pair's tokens. */
export function perPairAndTokens<Made>(make: (at: PairSnapshot) => Made): (at: PairSnapshot) => Made {
  const keptOf = perPair((): { info0?: TokenInfo; info1?: TokenInfo; made?: Made } => ({}))
  return (at) => {
    const kept = keptOf(at)
    const { info0, info1 } = at
    if (kept.made !== undefined && kept.info0 === info0 && kept.info1 === info1) return kept.made
    const made = make(at)
    Object.assign(kept, { info0, info1, made })
    return made
  }
}
