/** The markets of all chains as one stream, in order of time. */
import type { ChainFacts } from '../../../core/domain/chains.js'
import type { SourceRecord } from '../../source.js'
import { createMarket, type Market } from './chain-market.js'
import type { MarketState } from './market-state.js'

export type Interleaved = {
  /** When the next slot of any chain is due. */
  readonly nextMs: number
  /** Slots played so far. */
  readonly step: number
  advance(swapsPerS: number): SourceRecord | undefined
  readonly states: MarketState[]
}

export type InterleavePlan = {
  seed: number
  chains: readonly ChainFacts[]
  startS: number
  historyS: number
  historySwaps?: number
}

export function interleave(
  { chains, ...plan }: InterleavePlan,
  kept?: { step: number; states: readonly MarketState[] },
): Interleaved {
  const markets = chains.map((facts, at) => createMarket({ ...plan, facts, chains }, kept?.states[at]))
  let step = kept?.step ?? 0
  // At the same time, the chain named first comes first.
  const next = (): Market => markets.reduce((first, market) => (market.nextMs < first.nextMs ? market : first))
  return {
    get nextMs() {
      return next().nextMs
    },
    get step() {
      return step
    },
    get states() {
      return markets.map(({ state }) => state)
    },
    advance(swapsPerS) {
      step += 1
      return next().advance(swapsPerS)
    },
  }
}
