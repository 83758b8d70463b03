/**
 * Pancake V3: Uniswap V3 with the protocol's share in its Swap log; the share stays in the pool until CollectProtocol.
 * Signatures: `IPancakeV3PoolEvents` of @pancakeswap/v3-core.
 */

import { topicOf } from '../../abi/keccak.js'
import { answeredAddress } from '../../abi/view-calls.js'
import type { PoolKind } from '../../pool-contract.js'
import {
  confirmByFee,
  createdWithFee,
  FEE,
  feeOf,
  LM_POOL,
  POOL_CREATED,
  SLOT0,
  swapWith,
  V3_MOVES,
} from './uniswap-v3.js'
import { v3Protocol } from './v3-pool.js'

const SWAP = topicOf('Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)')

const KIND: PoolKind = {
  protocol: 'pancake-v3',
  forkAmm: 'v3fork',
  asks: [FEE, SLOT0, LM_POOL],
  factsOf: ([fee, slot0, lmPool]) => (answeredAddress(lmPool) === null ? null : feeOf(fee, slot0)),
  confirm: confirmByFee,
}

export const pancakeV3 = v3Protocol({
  kind: KIND,
  moves: new Map([[SWAP, swapWith(7)], ...V3_MOVES]),
  creations: new Map([[POOL_CREATED, (log, contract) => createdWithFee(log, contract, KIND.protocol)]]),
})
