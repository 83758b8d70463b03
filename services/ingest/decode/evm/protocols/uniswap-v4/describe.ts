/** A pool met in mid-life. The manager keeps no keys; the PositionManager keeps those of the pools it has positions in. */

import { selectorOf } from '../../abi/keccak.js'
import { answeredAddress, answeredInt, answeredUint, callOf } from '../../abi/view-calls.js'
import type { EvmLog } from '../../log.js'
import type { ChainContracts, Reading, Refusal } from '../../protocol.js'
import type { Venue } from '../../venue.js'
import { idOf, type PoolKey, venueOfKey } from './pool-key.js'

// v4-periphery: PositionManager.sol, `mapping(bytes25 poolId => PoolKey) public poolKeys`.
const POOL_KEYS = selectorOf('poolKeys(bytes25)')

export function* describeV4(id: string, log: EvmLog, chain: ChainContracts): Reading<Venue | Refusal> {
  const manager = chain.contracts.get(log.address)
  if (manager?.protocol !== 'uniswap-v4') return { refused: `${log.address} is no known pool manager` }
  if (id.length !== 66) return { refused: 'it is no id of a pool' }
  const positions = manager.others?.positions
  if (positions === undefined)
    return { refused: 'no position manager is known that could tell the pool of this id', isOurs: true }
  const [answer] = yield [callOf(positions, POOL_KEYS, id.slice(2, 52).padEnd(64, '0'))]
  const key = keyOf(answer ?? null)
  if (key === null || idOf(key) !== id) {
    const why = 'the pool was made before the history at hand, and the position manager does not know its key'
    return { refused: `${why}: a backfill that begins before it finds it`, isOurs: true }
  }
  return venueOfKey(id, key, manager, chain) ?? { refused: 'both of its sides are the native coin' }
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
