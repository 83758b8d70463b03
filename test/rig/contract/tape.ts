/** The recording that stands behind the REST contract. */
import type { TapePlan } from '../up/recording.js'

export const TAPE: TapePlan = {
  seed: 611,
  chains: ['eth', 'bsc', 'solana'],
  blocksPerChain: 150,
  options: {
    ...{ secondsPerBlock: 20, swapsPerBlock: 5, quietHour: 0, quietDay: 0, maxTimeBackS: 20, wallets: 40 },
    retracts: { probability: 0.05, maxDepth: 4 },
  },
}
