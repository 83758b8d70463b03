/**
 * Slipstream, the concentrated liquidity of Velodrome and Aerodrome: Uniswap V3 keyed by tick spacing instead of fee; a
 * gauge collects the fees of staked liquidity. Signatures: `ICLFactory`, `ICLPoolConstants`, `ICLPoolEvents` of
 * velodrome-finance/slipstream. Fee modules may change fees with every block, so the fee is not a fact of the pool.
 */

import type { KnownContract } from '../../../../../core/domain/exchanges.js'
import { selectorOf, topicOf } from '../../abi/keccak.js'
import { addressAt, expectShape, indexedAddress, indexedInt, uintAt } from '../../abi/log-fields.js'
import { addressWord, answeredAddress, answeredInt, callOf, intWord } from '../../abi/view-calls.js'
import type { EvmLog } from '../../log.js'
import { type PoolKind, tokensOf, venueOf } from '../../pool-contract.js'
import type { Venue } from '../../venue.js'
import { SWAP, swapWith, V3_MOVES } from './uniswap-v3.js'
import { type Move, v3Protocol } from './v3-pool.js'

const POOL_CREATED = topicOf('PoolCreated(address,address,int24,address)')
const COLLECT_FEES = topicOf('CollectFees(address,uint128,uint128)')

const TICK_SPACING = selectorOf('tickSpacing()')
const GAUGE = selectorOf('gauge()')
const GET_POOL = selectorOf('getPool(address,address,int24)')

const KIND: PoolKind = {
  protocol: 'slipstream',
  forkAmm: 'v3fork',
  asks: [TICK_SPACING, GAUGE],
  factsOf([spacing, gauge]) {
    const tickSpacing = answeredInt(spacing, 0, 24)
    if (tickSpacing === null || answeredAddress(gauge) === null) return null
    return { fee: null, facts: { tickSpacing: Number(tickSpacing) } }
  },
  confirm: (factory, [token0, token1], { facts }) => [
    callOf(factory, GET_POOL, addressWord(token0), addressWord(token1), intWord(Number(facts?.tickSpacing))),
  ],
}

export const slipstream = v3Protocol({
  kind: KIND,
  moves: new Map([[SWAP, swapWith(5)], ...V3_MOVES, [COLLECT_FEES, collectFees]]),
  creations: new Map([[POOL_CREATED, created]]),
})

function created(log: EvmLog, { amm }: KnownContract): Venue | null {
  expectShape(log, 4, 1)
  const tokens = tokensOf(indexedAddress(log, 1), indexedAddress(log, 2))
  const facts = { tickSpacing: Number(indexedInt(log, 3, 24)) }
  const pool = addressAt(log, 0)
  return tokens === null ? null : venueOf(pool, KIND.protocol, amm, tokens, { fee: null, facts })
}

/** The gauge collects what its staked liquidity earned. */
function collectFees(log: EvmLog): Move {
  expectShape(log, 2, 2)
  return {
    gained: [-uintAt(log, 0, 128), -uintAt(log, 1, 128)],
    draft: { kind: 'reserves', sender: indexedAddress(log, 1) },
  }
}
