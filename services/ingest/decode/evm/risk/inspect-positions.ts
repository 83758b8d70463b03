/** Reads which of a pool's known positions (ERC-721) are burnt or locked, and what part of its liquidity that is. */
import type { KnownLocker } from '../../../../core/config/contracts/lockers.js'
import { BURN_ADDRESSES } from '../../../../core/domain/chains.js'
import { type HeldLock, lockUntil, type PoolHolding } from '../../lock-facts.js'
import { activeLiquidity, coveredPart, type Position } from '../../position-shares.js'
import { selectorOf } from '../abi/keccak.js'
import { type Answer, answeredAddress, answeredInt, answeredUint, callOf, uintWord } from '../abi/view-calls.js'
import type { PositionLock } from '../block/book.js'
import { balanceCall } from '../erc20.js'
import { SLOT0 } from '../protocols/uniswap-v3/uniswap-v3.js'
import { type Inspection, requestsOf } from './inspect-token.js'

/** `lock`: what a locker said when it took it; null: nothing was seen. */
export type FollowedPosition = { manager: string; id: string; lock: PositionLock | null }

export type FollowedPool = {
  pool: string
  tokens: readonly string[]
  positions: readonly FollowedPosition[]
  /** Whether these are all that were ever made. */
  isComplete: boolean
}

const LIQUIDITY = selectorOf('liquidity()')
const OWNER_OF = selectorOf('ownerOf(uint256)')
const POSITIONS = selectorOf('positions(uint256)')
const GET_LOCK = selectorOf('getLock(uint256)')
const TICK_BITS = 24
const Q96 = 2 ** 96

/** Null: the pool does not answer as Uniswap's V3 does. */
export function* inspectPositions(
  { pool, tokens, positions, isComplete }: FollowedPool,
  lockers: readonly KnownLocker[],
  nowS: number,
): Inspection<PoolHolding | null> {
  const [slot0, active, raw0, raw1, ...answers] = yield requestsOf([
    ...[callOf(pool, SLOT0), callOf(pool, LIQUIDITY), ...tokens.map((token) => balanceCall(token, pool))],
    ...positions.flatMap(({ manager, id }) => [
      callOf(manager, OWNER_OF, uintWord(BigInt(id))),
      callOf(manager, POSITIONS, uintWord(BigInt(id))),
    ]),
  ])
  const [sqrtPrice, tick] = [answeredUint(slot0, 0, 160), answeredInt(slot0, 1, TICK_BITS)]
  const total = answeredUint(active, 0, 128)
  if (sqrtPrice === null || tick === null || total === null) return null
  const owned = positions.map((followed, place) => ({
    ...followed,
    // A burnt token has no owner, and then no liquidity either.
    owner: answeredAddress(answers[place * 2]),
    position: positionOf(answers[place * 2 + 1], tokens),
  }))
  const held = owned.flatMap(({ owner, position, lock, manager, id }) => {
    const locker = lockers.find((one) => one.kind === 'uncx-v3' && one.address === owner)
    return locker === undefined || position === null ? [] : [{ locker, position, lock, manager, id }]
  })
  const asked = held.flatMap((one) => (one.lock === null || one.lock.locker !== one.locker.address ? [] : [one.lock]))
  const dates =
    asked.length === 0
      ? []
      : yield requestsOf(asked.map(({ locker, lockId }) => callOf(locker, GET_LOCK, uintWord(BigInt(lockId)))))
  const pinned: Position[] = []
  const at = Number(tick)
  const locks = held.flatMap(({ locker, position, lock, manager, id }): HeldLock[] => {
    const place = lock === null ? -1 : asked.indexOf(lock)
    const date = place < 0 ? null : dateOf(dates[place], manager, id)
    const [dated] = date === null ? [null] : lockUntil(position.liquidity, date, nowS)
    if (dated === undefined) return []
    pinned.push(position)
    const amount = activeLiquidity(position, at)
    return amount === 0n ? [] : [{ locker, amount, unlockAtS: dated === null ? null : dated.unlockAtS }]
  })
  const burnt = owned.flatMap(({ owner, position }) =>
    owner !== null && position !== null && BURN_ADDRESSES.evm.includes(owner) ? [position] : [],
  )
  const reserves = [answeredUint(raw0), answeredUint(raw1)] as const
  const price = Number(sqrtPrice) / Q96
  return {
    ...{ address: pool, total, locks, isPartial: !isComplete, decimals: 0 },
    burnt: burnt.reduce((sum, position) => sum + activeLiquidity(position, at), 0n),
    covered: coveredPart({ tick: at, sqrtPrice: price, liquidity: total, reserves }, [...pinned, ...burnt]),
  }
}

/** Nonce, operator, tokens, fee (or tick spacing), ticks, liquidity. Null: not of these tokens. */
function positionOf(answer: Answer, [token0, token1]: readonly string[]): Position | null {
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
