/**
 * Uniswap V4: all pools live in one PoolManager, and a pool's id is its pair's address. Reserves are what the manager holds for the
 * pool: principal, fees not yet paid out and donations, without what is the protocol's (`v4/pool-state.ts` for pools met in
 * mid-life). What a hook takes or trades for itself is not the pool's and is not told. The log names no recipient but the sender.
 */
import { indexedBytes32 } from './abi.js'
import type { Protocol } from './protocol.js'
import { isStranger } from './stranger.js'
import { applyDonate, applyInitialize, applyModify, applyProtocolFee, applySwap } from './v4/apply.js'
import { describeV4 } from './v4/describe.js'
import { DONATE, INITIALIZE, initializeOf, MODIFY_LIQUIDITY, PROTOCOL_FEE_UPDATED, SWAP } from './v4/logs.js'
import { venueOfKey } from './v4/pool-key.js'
import { unreadState, type V4State } from './v4/pool-state.js'
import { readV4State } from './v4/read-state.js'

export const uniswapV4: Protocol<V4State> = {
  name: 'uniswap-v4',
  isSingleton: true,
  ids: /^0x[0-9a-f]{64}$/,
  creationTopics: [INITIALIZE],
  topics: [INITIALIZE, SWAP, MODIFY_LIQUIDITY, DONATE, PROTOCOL_FEE_UPDATED],
  venueOf: (log) => indexedBytes32(log, 1),
  created(log, contract, chain) {
    const { id, ...key } = initializeOf(log)
    return venueOfKey(id, key, contract, chain)
  },
  describe: describeV4,
  emptyState({ facts }) {
    const tickSpacing = Number(facts?.tickSpacing ?? 0)
    if (tickSpacing === 0) return unreadState(0)
    return { ...unreadState(tickSpacing), reserves: [0n, 0n], ticks: new Map(), positions: new Map() }
  },
  readState: readV4State,
  apply(log, venue, state) {
    if (isStranger(log, venue.facts?.manager)) return { state, happenings: [] }
    if (log.topics[0] === SWAP) return applySwap(log, state)
    if (log.topics[0] === MODIFY_LIQUIDITY) return applyModify(log, state)
    if (log.topics[0] === DONATE) return applyDonate(log, state)
    if (log.topics[0] === PROTOCOL_FEE_UPDATED) return applyProtocolFee(log, state)
    return applyInitialize(log, state)
  },
}
