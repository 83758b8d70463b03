import { PairState } from '../../services/serve/memory/served-chain.js'

const GETTERS = Object.entries(Object.getOwnPropertyDescriptors(PairState.prototype)).flatMap(([name, { get }]) =>
  get === undefined ? [] : [name as keyof PairState],
)

/** A pair's state with its figures as fields of its own. */
export function readPairState(pair: PairState): Omit<PairState, 'at' | 'detach' | 'isReplaced'> {
  const figures = Object.fromEntries(GETTERS.map((name) => [name, pair[name]]))
  return { ...figures, pair: pair.pair, info: pair.info, seen_at: pair.seen_at } as PairState
}
