/** Recordings for the contract tests. */
import type { TapePlan } from '../up/recording.js'

/** Queried after it has been played. */
export const TAPE: TapePlan = {
  seed: 611,
  chains: ['eth', 'bsc', 'solana'],
  blocksPerChain: 110,
  options: {
    ...{ secondsPerBlock: 20, swapsPerBlock: 5, quietHour: 0, quietDay: 0, maxTimeBackS: 20, wallets: 40 },
    retracts: { probability: 0.05, maxDepth: 4 },
  },
}

/** Played while clients are subscribed; has reorgs, launches and main pair switches. */
export const PACED_TAPE: TapePlan = {
  seed: 617,
  chains: ['eth', 'bsc', 'solana'],
  blocksPerChain: 160,
  options: {
    ...{ secondsPerBlock: 4, swapsPerBlock: 6, quietHour: 0, quietDay: 0, maxTimeBackS: 0, wallets: 40 },
    retracts: { probability: 0.04, maxDepth: 3 },
  },
}

/** Shorter, with two chains, played while clients send requests. */
export const LIVE_TAPE: TapePlan = {
  seed: 619,
  chains: ['eth', 'solana'],
  blocksPerChain: 140,
  options: {
    ...{ secondsPerBlock: 4, swapsPerBlock: 5, quietHour: 0, quietDay: 0, maxTimeBackS: 0 },
    retracts: { probability: 0.05, maxDepth: 3 },
  },
}
