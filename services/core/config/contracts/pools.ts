/** Factories whose pools are contracts of their own, by chain. Each address was found in two independent public places. */
import type { KnownContract } from '../../domain/evm-contracts.js'

export const POOL_FACTORIES: Readonly<Record<string, readonly KnownContract[]>> = {}
