/** Uniswap V3 and forks with the same logs (Sushi V3 …). Signatures: `IUniswapV3Factory`, `IUniswapV3PoolState` of @uniswap/v3-core. */

import type { KnownContract } from '../../../../../core/domain/exchanges.js'
import { selectorOf, topicOf } from '../../abi/keccak.js'
import { addressAt, expectShape, indexedAddress, indexedUint, intAt } from '../../abi/log-fields.js'
import { type Answer, addressWord, answeredAddress, answeredUint, callOf, uintWord } from '../../abi/view-calls.js'
import type { EvmLog } from '../../log.js'
import { type PoolFacts, type PoolKind, type Tokens, tokensOf, venueOf } from '../../pool-contract.js'
import type { Call } from '../../protocol.js'
import type { Venue } from '../../venue.js'
import { SWAP, swapWith, V3_MOVES } from './v3-logs.js'
import { v3Protocol } from './v3-pool.js'

export const POOL_CREATED = topicOf('PoolCreated(address,address,uint24,int24,address)')

export const SLOT0 = selectorOf('slot0()')
export const FEE = selectorOf('fee()')
/** Only Pancake's pools have it. */
export const LM_POOL = selectorOf('lmPool()')
const GET_POOL = selectorOf('getPool(address,address,uint24)')

const FEE_BITS = 24

const KIND: PoolKind = {
  protocol: 'uniswap-v3',
  forkAmm: 'v3fork',
  asks: [FEE, SLOT0, LM_POOL],
  factsOf: ([fee, slot0, lmPool]) => (answeredAddress(lmPool) === null ? feeOf(fee, slot0) : null),
  confirm: confirmByFee,
}

export const uniswapV3 = v3Protocol({
  kind: KIND,
  moves: new Map([[SWAP, swapWith(5)], ...V3_MOVES]),
  creations: new Map([[POOL_CREATED, (log, contract) => createdWithFee(log, contract, KIND.protocol)]]),
})

/** `slot0` has seven words here and six in Slipstream. */
export function feeOf(fee: Answer, slot0: Answer): PoolFacts | null {
  const value = answeredUint(fee, 0, FEE_BITS)
  return value === null || answeredUint(slot0, 6) === null ? null : { fee: Number(value) }
}

export function confirmByFee(factory: string, [token0, token1]: Tokens, { fee }: PoolFacts): readonly Call[] {
  return [callOf(factory, GET_POOL, addressWord(token0), addressWord(token1), uintWord(fee ?? 0))]
}

export function createdWithFee(log: EvmLog, { amm }: KnownContract, protocol: string): Venue | null {
  expectShape(log, 4, 2)
  intAt(log, 0, 24)
  const tokens = tokensOf(indexedAddress(log, 1), indexedAddress(log, 2))
  const fee = Number(indexedUint(log, 3, FEE_BITS))
  const pool = addressAt(log, 1)
  return tokens === null ? null : venueOf(pool, protocol, amm, tokens, { fee })
}
