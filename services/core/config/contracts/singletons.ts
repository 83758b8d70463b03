/** Contracts that hold many pools themselves, by chain. */
import type { KnownContract } from '../../domain/evm-contracts.js'

export const SINGLETONS: Readonly<Record<string, readonly KnownContract[]>> = {}
