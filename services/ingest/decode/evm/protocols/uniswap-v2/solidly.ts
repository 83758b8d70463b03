/**
 * Solidly's pairs, stable and volatile: Aerodrome and Velodrome V2 (signatures: `IPool`, `IPoolFactory` of
 * aerodrome-finance/contracts) and forks with the original names (`PairCreated`, Uniswap's Swap and Burn). Trading fees
 * go to a separate contract before the Sync, so reserves exclude them. The factory may change a pool's fee at any time,
 * so it is not a fact of the pool.
 */

import { selectorOf, topicOf } from '../../abi/keccak.js'
import { addressAt, boolAt, expectShape, indexedAddress, indexedBool, uintAt } from '../../abi/log-fields.js'
import { addressWord, answeredBool, answeredUint, boolWord, callOf } from '../../abi/view-calls.js'
import { describePool, type PoolKind, tokensOf, venueOf } from '../../pool-contract.js'
import type { Protocol } from '../../protocol.js'
import * as v2 from './uniswap-v2.js'

const POOL_CREATED = topicOf('PoolCreated(address,address,bool,address,uint256)')
const PAIR_CREATED = topicOf('PairCreated(address,address,bool,address,uint256)')
const SYNC = topicOf('Sync(uint256,uint256)')
const SWAP = topicOf('Swap(address,address,uint256,uint256,uint256,uint256)')
const BURN = topicOf('Burn(address,address,uint256,uint256)')

/** `getPair` is the name in the original Solidly. */
const GET_POOL = [selectorOf('getPool(address,address,bool)'), selectorOf('getPair(address,address,bool)')]

const KIND: PoolKind = {
  protocol: 'solidly',
  forkAmm: 'v2fork',
  asks: [v2.STABLE, v2.GET_RESERVES],
  factsOf([stableAnswer, reserves]) {
    const stable = answeredBool(stableAnswer)
    return stable === null || answeredUint(reserves, 1) === null ? null : { fee: null, facts: { stable } }
  },
  confirm: (factory, [token0, token1], { facts }) =>
    GET_POOL.map((selector) =>
      callOf(factory, selector, addressWord(token0), addressWord(token1), boolWord(facts?.stable === true)),
    ),
}

export const solidly: Protocol<v2.PairState> = {
  name: KIND.protocol,
  creationTopics: [POOL_CREATED, PAIR_CREATED],
  topics: [SYNC, SWAP, v2.SWAP, v2.MINT, BURN, v2.BURN],
  shareTopics: [v2.MINT, BURN, v2.BURN],
  venueOf: (log) => log.address,

  created(log, { amm }) {
    const indexed = log.topics[0] === POOL_CREATED
    expectShape(log, indexed ? 4 : 3, indexed ? 2 : 3)
    const stable = indexed ? indexedBool(log, 3) : boolAt(log, 0)
    const pool = addressAt(log, indexed ? 0 : 1)
    const tokens = tokensOf(indexedAddress(log, 1), indexedAddress(log, 2))
    return tokens === null ? null : venueOf(pool, KIND.protocol, amm, tokens, { fee: null, facts: { stable } })
  },

  describe: (id, _log, chain) => describePool(id, KIND, chain),
  emptyState: () => v2.pairState([0n, 0n]),
  readState: (venue) => v2.readPairState(venue),

  apply(log, _venue, state) {
    switch (log.topics[0]) {
      case SYNC:
        expectShape(log, 1, 2)
        return v2.sync(log, state, [uintAt(log, 0), uintAt(log, 1)])
      case SWAP:
        expectShape(log, 3, 4)
        return v2.claim(log, state, v2.swapOf(log))
      case BURN:
        expectShape(log, 3, 2)
        return v2.claim(log, state, v2.liquidityOf(log, 'remove'))
      default:
        return v2.applyPairLog(log, state)
    }
  },
  refuse: (log, state) => v2.refuse(state, log.topics[0] === SYNC),
  settle: (_venue, state) => v2.settle(state),
  isPricedByTrades: ({ facts }) => facts?.stable === true,
}
