/**
 * Uniswap V4: all pools live in one PoolManager, and the pair id is the pool id. Reserves are what the manager holds
 * for the pool: principal, unpaid fees and donations, without the protocol's share (see `v4-state.ts` for pools whose
 * creation was not seen). What a hook takes or trades for itself is not the pool's and is not published. Logs name only
 * a sender, which is also used as recipient.
 */
import { selectorOf } from '../../abi/keccak.js'
import { indexedBytes32 } from '../../abi/log-fields.js'
import { answeredAddress, answeredInt, answeredUint, callOf } from '../../abi/view-calls.js'
import type { EvmLog } from '../../log.js'
import type { ChainContracts, Protocol, Reading, Refusal } from '../../protocol.js'
import { isFromOtherContract, type Venue } from '../../venue.js'
import { idOf, type PoolKey, venueOfKey } from './pool-key.js'
import { readV4State } from './read-v4-state.js'
import { applyDonate, applyInitialize, applyModify, applyProtocolFee, applySwap } from './v4-apply.js'
import { DONATE, INITIALIZE, initializeOf, MODIFY_LIQUIDITY, PROTOCOL_FEE_UPDATED, SWAP } from './v4-logs.js'
import { unreadState, type V4State } from './v4-state.js'

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
    if (isFromOtherContract(log, venue.facts?.manager)) return { state, events: [] }
    if (log.topics[0] === SWAP) return applySwap(log, state)
    if (log.topics[0] === MODIFY_LIQUIDITY) return applyModify(log, state)
    if (log.topics[0] === DONATE) return applyDonate(log, state)
    if (log.topics[0] === PROTOCOL_FEE_UPDATED) return applyProtocolFee(log, state)
    return applyInitialize(log, state)
  },
}

// v4-periphery: PositionManager.sol, `mapping(bytes25 poolId => PoolKey) public poolKeys`.
const POOL_KEYS = selectorOf('poolKeys(bytes25)')

export function* describeV4(id: string, log: EvmLog, chain: ChainContracts): Reading<Venue | Refusal> {
  const manager = chain.contracts.get(log.address)
  if (manager?.protocol !== 'uniswap-v4') return { refused: `${log.address} is not a known pool manager` }
  if (id.length !== 66) return { refused: 'it is not a pool id' }
  const positions = manager.others?.positions
  if (positions === undefined) return { refused: 'no known position manager can look up this pool id', isOurs: true }
  const [answer] = yield [callOf(positions, POOL_KEYS, id.slice(2, 52).padEnd(64, '0'))]
  const key = keyOf(answer ?? null)
  if (key === null || idOf(key) !== id) {
    const why = 'the pool was created before this history starts and the position manager has no key for it'
    return { refused: `${why}; backfill from before its creation`, isOurs: true }
  }
  return venueOfKey(id, key, manager, chain) ?? { refused: 'both of its tokens are the native coin' }
}

function keyOf(answer: string | null): PoolKey | null {
  const [currency0, currency1] = [answeredAddress(answer, 0), answeredAddress(answer, 1)]
  const [fee, tickSpacing, hooks] = [
    answeredUint(answer, 2, 24),
    answeredInt(answer, 3, 24),
    answeredAddress(answer, 4),
  ]
  if (currency0 === null || currency1 === null || fee === null || tickSpacing === null || hooks === null) return null
  return { currencies: [currency0, currency1], fee: Number(fee), tickSpacing: Number(tickSpacing), hooks }
}
