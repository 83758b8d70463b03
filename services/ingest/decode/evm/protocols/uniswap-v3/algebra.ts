/**
 * Algebra (QuickSwap V3, Camelot V3 …), before and with plug-ins ("Integral", whose Swap and Burn also carry fees).
 * Signatures: `IAlgebraFactory`, `IAlgebraPoolEvents` of cryptoalgebra/Algebra. The community's and plug-ins' share of
 * a swap leaves the pool without a log, so reserves are read at the end of each block that touched it. Fees change with
 * the market, so the fee is not a fact of the pool.
 */

import type { KnownContract } from '../../../../../core/domain/exchanges.js'
import { selectorOf, topicOf } from '../../abi/keccak.js'
import { addressAt, expectShape, indexedAddress } from '../../abi/log-fields.js'
import { addressWord, answeredUint, callOf } from '../../abi/view-calls.js'
import { readBalances } from '../../erc20.js'
import type { EvmLog } from '../../log.js'
import { type PoolKind, tokensOf, venueOf } from '../../pool-contract.js'
import type { Protocol } from '../../protocol.js'
import type { Venue } from '../../venue.js'
import { burnWith, SWAP, swapWith, V3_MOVES } from './uniswap-v3.js'
import { type V3State, v3Protocol } from './v3-pool.js'

const POOL = topicOf('Pool(address,address,address)')
const CUSTOM_POOL = topicOf('CustomPool(address,address,address,address)')
const INTEGRAL_SWAP = topicOf('Swap(address,address,int256,int256,uint160,uint128,int24,uint24,uint24)')
const INTEGRAL_BURN = topicOf('Burn(address,int24,int24,uint128,uint256,uint256,uint24)')

const GLOBAL_STATE = selectorOf('globalState()')
const POOL_BY_PAIR = selectorOf('poolByPair(address,address)')

const KIND: PoolKind = {
  protocol: 'algebra',
  forkAmm: 'v3fork',
  asks: [GLOBAL_STATE],
  factsOf: ([globalState]) => (answeredUint(globalState, 0, 160) === null ? null : { fee: null }),
  confirm: (factory, [token0, token1]) => [callOf(factory, POOL_BY_PAIR, addressWord(token0), addressWord(token1))],
}

export const algebra: Protocol<V3State> = {
  ...v3Protocol({
    kind: KIND,
    moves: new Map([[SWAP, swapWith(5)], [INTEGRAL_SWAP, swapWith(7)], ...V3_MOVES, [INTEGRAL_BURN, burnWith(4)]]),
    creations: new Map([
      [POOL, (log, contract) => created(log, contract, 1)],
      [CUSTOM_POOL, (log, contract) => created(log, contract, 2)],
    ]),
  }),
  readReserves: ({ tokens, id }) => readBalances(tokens, id),
}

/** `first`: topic index of the first token. A custom pool's deployer comes before it. */
function created(log: EvmLog, { amm }: KnownContract, first: 1 | 2): Venue | null {
  expectShape(log, first + 2, 1)
  const tokens = tokensOf(indexedAddress(log, first), indexedAddress(log, first + 1))
  const pool = addressAt(log, 0)
  return tokens === null ? null : venueOf(pool, KIND.protocol, amm, tokens, { fee: null })
}
