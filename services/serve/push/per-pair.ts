import type { PairInfo, TokenInfo } from '../../core/domain/records.js'
import type { PairSnapshot } from './update-snapshot.js'

type Kept<Made> = { chain: string; pair: string; info0: TokenInfo; info1: TokenInfo; made: Made }

/**
 * Keeps what is made from the facts of a pair that do not change with its trades, as long as memory keeps those facts.
 * `make` may use the chain, the pair's address and info, and the info of its tokens.
 */
export function perPair<Made>(make: (at: PairSnapshot) => Made): (at: PairSnapshot) => Made {
  const kept = new WeakMap<PairInfo, Kept<Made>>()
  return (at) => {
    const { chain, info0, info1 } = at
    const { pair, info } = at.pair
    const known = kept.get(info)
    if (known?.pair === pair && known.chain === chain && known.info0 === info0 && known.info1 === info1)
      return known.made
    const made = make(at)
    kept.set(info, { chain, pair, info0, info1, made })
    return made
  }
}
