/** Reads which of a pool's known positions (ERC-721) are burnt or locked, and what part of its liquidity that is. */
import type { KnownLocker } from '../../../../core/config/contracts/lockers.js'
import { BURN_ADDRESSES } from '../../../../core/domain/chains.js'
import { type HeldLock, lockUntil, type PoolHolding } from '../../lock-facts.js'
import { activeLiquidity, coveredPart, type Position, type RangePool } from '../../position-shares.js'
import { selectorOf } from '../abi/keccak.js'
import { type Answer, answeredAddress, answeredInt, answeredUint, callOf, uintWord } from '../abi/view-calls.js'
import type { PositionLock } from '../block/book.js'
import { balanceCall } from '../erc20.js'
import type { Call } from '../protocol.js'
import { SLOT0 } from '../protocols/uniswap-v3/uniswap-v3.js'
import { type Inspection, requestsOf } from './inspect-token.js'
import { isTokenLocker } from './lockers.js'

/** `lock`: what a locker said when it took it; null: nothing was seen. */
export type FollowedPosition = { manager: string; id: string; lock: PositionLock | null }

export type FollowedPool = {
  pool: string
  tokens: readonly string[]
  positions: readonly FollowedPosition[]
  /** Whether these are all that were ever made. */
  isComplete: boolean
  /** Of a V4 pool, which has no contract to ask; null: of a V3 pool. */
  price: RangePool | null
}

const LIQUIDITY = selectorOf('liquidity()')
const OWNER_OF = selectorOf('ownerOf(uint256)')
const POSITIONS = selectorOf('positions(uint256)')
const POSITION_INFO = selectorOf('positionInfo(uint256)')
const POSITION_LIQUIDITY = selectorOf('getPositionLiquidity(uint256)')
const GET_LOCK = selectorOf('getLock(uint256)')
const TICK_BITS = 24
const Q96 = 2 ** 96

/** Null: the pool does not answer as Uniswap's V3 does. */
export function* inspectPositions(
  followed: FollowedPool,
  lockers: readonly KnownLocker[],
  nowS: number,
): Inspection<PoolHolding | null> {
  const { pool, tokens, positions, isComplete } = followed
  const ofPool = followed.price === null ? v3Calls(pool, tokens) : []
  const selectors = followed.price === null ? [OWNER_OF, POSITIONS] : [OWNER_OF, POSITION_INFO, POSITION_LIQUIDITY]
  const calls = positions.flatMap(({ manager, id }) =>
    selectors.map((selector) => callOf(manager, selector, uintWord(BigInt(id)))),
  )
  const asks = [...ofPool, ...calls]
  const said = asks.length === 0 ? [] : yield requestsOf(asks)
  const at = followed.price ?? v3Price(said)
  if (at === null) return null
  const answers = said.slice(ofPool.length)
  const owned = positions.map((position, place) => {
    const [owner, ...facts] = answers.slice(place * selectors.length, (place + 1) * selectors.length)
    const read = followed.price === null ? v3Position(facts[0], tokens) : v4Position(facts[0], facts[1], pool)
    // A burnt token has no owner, and then no liquidity either.
    return { ...position, owner: answeredAddress(owner), position: read }
  })
  const held = owned.flatMap(({ owner, position, lock, manager, id }) => {
    const locker = lockers.find((one) => !isTokenLocker(one) && one.address === owner)
    const isOurs = lock !== null && lock.locker === locker?.address
    return locker === undefined || position === null
      ? []
      : [{ locker, position, lock: isOurs ? lock : null, manager, id }]
  })
  const asked = held.flatMap(({ lock }) => (lock === null || lock.unlockAt !== undefined ? [] : [lock]))
  const dates =
    asked.length === 0
      ? []
      : yield requestsOf(asked.map(({ locker, lockId }) => callOf(locker, GET_LOCK, uintWord(BigInt(lockId)))))
  const pinned: Position[] = []
  const locks = held.flatMap(({ locker, position, lock, manager, id }): HeldLock[] => {
    const place = lock === null ? -1 : asked.indexOf(lock)
    const told = lock?.unlockAt === undefined ? null : BigInt(lock.unlockAt)
    const date = place < 0 ? told : dateOf(dates[place], manager, id)
    const [dated] = date === null ? [null] : lockUntil(position.liquidity, date, nowS)
    if (dated === undefined) return []
    pinned.push(position)
    const amount = activeLiquidity(position, at.tick)
    return amount === 0n ? [] : [{ locker, amount, unlockAtS: dated === null ? null : dated.unlockAtS }]
  })
  const burnt = owned.flatMap(({ owner, position }) =>
    owner !== null && position !== null && BURN_ADDRESSES.evm.includes(owner) ? [position] : [],
  )
  return {
    ...{ address: pool, total: at.liquidity, locks, isPartial: !isComplete, decimals: 0 },
    burnt: burnt.reduce((sum, position) => sum + activeLiquidity(position, at.tick), 0n),
    covered: coveredPart(at, [...pinned, ...burnt]),
  }
}

const v3Calls = (pool: string, tokens: readonly string[]): Call[] => [
  ...[callOf(pool, SLOT0), callOf(pool, LIQUIDITY), ...tokens.map((token) => balanceCall(token, pool))],
]

/** Null: the pool does not answer as Uniswap's V3 does. */
function v3Price([slot0, active, raw0, raw1]: readonly Answer[]): RangePool | null {
  const [sqrtPrice, tick] = [answeredUint(slot0, 0, 160), answeredInt(slot0, 1, TICK_BITS)]
  const liquidity = answeredUint(active, 0, 128)
  if (sqrtPrice === null || tick === null || liquidity === null) return null
  const reserves = [answeredUint(raw0), answeredUint(raw1)] as const
  return { tick: Number(tick), sqrtPrice: Number(sqrtPrice) / Q96, liquidity, reserves }
}

/** The beginning of the pool's id, then the ticks and a byte (v4-periphery: PositionInfoLibrary.sol). Null: of another pool. */
function v4Position(info: Answer, liquidity: Answer, pool: string): Position | null {
  const [packed, amount] = [answeredUint(info), answeredUint(liquidity, 0, 128)]
  if (packed === null || amount === null || packed >> 56n !== BigInt(pool) >> 56n) return null
  const tickAt = (bit: bigint): number => Number(BigInt.asIntN(TICK_BITS, packed >> bit))
  return { tickLower: tickAt(8n), tickUpper: tickAt(32n), liquidity: amount }
}

/** Nonce, operator, tokens, fee (or tick spacing), ticks, liquidity. Null: not of these tokens. */
function v3Position(answer: Answer, [token0, token1]: readonly string[]): Position | null {
  const [tickLower, tickUpper] = [answeredInt(answer, 5, TICK_BITS), answeredInt(answer, 6, TICK_BITS)]
  const liquidity = answeredUint(answer, 7, 128)
  if (answeredAddress(answer, 2) !== token0 || answeredAddress(answer, 3) !== token1) return null
  if (tickLower === null || tickUpper === null || liquidity === null) return null
  return { tickLower: Number(tickLower), tickUpper: Number(tickUpper), liquidity }
}

/** Lock id, manager, pool, position, owners, collectors, date. Null: the lock is of another position. */
function dateOf(answer: Answer, manager: string, id: string): bigint | null {
  if (answeredAddress(answer, 1) !== manager || answeredUint(answer, 3) !== BigInt(id)) return null
  return answeredUint(answer, 8)
}
