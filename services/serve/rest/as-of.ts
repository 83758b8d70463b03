import type { ChainDirectory } from '../chain-directory.js'

/** X-As-Of: a chain's now; of several the lowest, then each by name. */
export function asOf(directory: ChainDirectory, chains: readonly string[]): string {
  const times = chains.map((chain): [string, number] => [chain, directory.market(chain)?.state.nowS ?? 0])
  const lowest = Math.min(...times.map(([, timeS]) => timeS))
  if (times.length <= 1) return String(Number.isFinite(lowest) ? lowest : 0)
  return [String(lowest), ...times.map(([chain, timeS]) => `${chain}=${timeS}`)].join('; ')
}
