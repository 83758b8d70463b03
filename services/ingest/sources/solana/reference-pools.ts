/** Pools whose trades price SOL: a scope of few pools would else leave everything quoted in it without a price in USD. */
import type { ChainMoney } from '../../../core/domain/chains.js'
import { WRAPPED_SOL } from '../../decode/solana/native-programs.js'

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

/** SOL/USDC on mainnet-beta. Each was found in at least two independent public places. */
const SOL_USDC = [
  '58oQChx4yWmvKdwLLZzBi4ChoCc2fqCUWBkwMihLYQo2', // Raydium v4
  '8sLbNZoA1cfnvMJLPfp98ZLAnFSYCFApfJKMbiXNLwxj', // Raydium CLMM
  'Czfq3xZZDmsdGdUyrNLtRhGc47cXcZtLG4crryfu44zE', // Orca Whirlpool
  '5rCf1DM8LjKTw4YqhnoLcngyZYeNnQqztScTogYHAS6', // Meteora DLMM
]

/** They cost no request: blocks come whole. */
export const referencePools = ({ native, anchor }: ChainMoney): readonly string[] =>
  native === WRAPPED_SOL && anchor === USDC ? SOL_USDC : []
