/** Every contract known out of the box, by chain. */
import type { KnownContract } from '../../domain/evm-contracts.js'
import { POOL_FACTORIES } from './pool-factories.js'
import { SINGLETONS } from './singletons.js'

export const BUILT_IN_CONTRACTS: ReadonlyMap<string, readonly KnownContract[]> = new Map(
  [...new Set([...Object.keys(POOL_FACTORIES), ...Object.keys(SINGLETONS)])].map((chain) => [
    chain,
    [...(POOL_FACTORIES[chain] ?? []), ...(SINGLETONS[chain] ?? [])],
  ]),
)
