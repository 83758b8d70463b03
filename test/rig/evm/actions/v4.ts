/** Actions on Uniswap V4 pools. */
import { type AbiValue, call, encode, keccak } from '../abi.js'
import {
  fullRange,
  fullRangeLiquidity,
  MAX_SQRT_PRICE,
  MIN_SQRT_PRICE,
  onGrid,
  rawPrice,
  sqrtPriceOf,
  tickOf,
} from '../ticks.js'
import type { Transaction } from '../transactions.js'
import { type Action, poolsOf, tradeUsd, type V4Pool, type World, worth, ZERO } from '../world.js'

const KEY = '(address,address,uint24,int24,address)'

const keyOf = ({ token0, token1, fee, tickSpacing, hooks }: Omit<V4Pool, 'id'>): AbiValue[] => [
  ...[token0.address, token1.address, fee, tickSpacing, hooks],
]

export const encodedKey = (pool: Omit<V4Pool, 'id'>): string => encode([KEY], [keyOf(pool)])

export function withId(pool: Omit<V4Pool, 'id'>): V4Pool {
  return { ...pool, id: keccak(encodedKey(pool)) }
}

/** More than enough when paying in the native coin: the rest is refunded. */
const valueFor = ({ token0 }: V4Pool, usd: number): bigint => (token0.address === ZERO ? worth(token0, usd) : 0n)

export const swap: Action = async (world) => {
  const { random, contracts, wallets } = world
  const pools = poolsOf(world, 'v4')
  if (pools.length === 0) return null
  const pool = random.pick(pools)
  const down = random.chance(0.5)
  const exactOut = random.chance(0.3)
  const usd = tradeUsd(world)
  // Here an amount paid is negative.
  const amount = worth(down === exactOut ? pool.token1 : pool.token0, usd) * (exactOut ? 1n : -1n)
  if (amount === 0n) return null
  const limit = down ? MIN_SQRT_PRICE + 1n : MAX_SQRT_PRICE - 1n
  const asClaims = random.chance(0.1)
  const signature = `swap(${KEY},(bool,int256,uint160),(bool,bool),bytes)`
  const data = call(signature, keyOf(pool), [down, amount, limit], [asClaims, false], '0x')
  return {
    transactions: [{ from: random.pick(wallets), to: contracts.v4.swap, data, value: valueFor(pool, usd * 3 + 100) }],
  }
}

export const changeLiquidity: Action = async (world) => {
  const { random, wallets } = world
  const pools = poolsOf(world, 'v4')
  if (pools.length === 0) return null
  const pool = random.pick(pools)
  const usd = 10 ** (random.next() * 3.5)
  const middle = onGrid(tickOf(rawPrice(pool.token0, pool.token1)), pool.tickSpacing)
  const range = random.pick([
    fullRange(pool.tickSpacing),
    [middle - 4 * pool.tickSpacing, middle + 4 * pool.tickSpacing],
    [middle + pool.tickSpacing, middle + 9 * pool.tickSpacing],
    [middle - 7 * pool.tickSpacing, middle],
  ] as [number, number][])
  return { transactions: [liquidityIn(world, pool, random.pick(wallets), range, random.chance(0.4) ? -usd : usd)] }
}

/** Below zero: removes. All positions belong to the router, so anyone can remove what another added. */
export function liquidityIn(
  { contracts }: Pick<World, 'contracts'>,
  pool: V4Pool,
  from: string,
  [lower, upper]: readonly [number, number],
  usd: number,
): Transaction {
  const liquidity = fullRangeLiquidity(pool.token0, pool.token1, Math.abs(usd)) * (usd < 0 ? -1n : 1n)
  const data = call(
    `modifyLiquidity(${KEY},(int24,int24,int256,bytes32),bytes)`,
    keyOf(pool),
    [lower, upper, liquidity, 0],
    '0x',
  )
  return { from, to: contracts.v4.liquidity, data, value: usd < 0 ? 0n : valueFor(pool, usd * 2 + 100) }
}

export const donate: Action = async (world) => {
  const { random, contracts, wallets } = world
  const pools = poolsOf(world, 'v4')
  if (pools.length === 0) return null
  const pool = random.pick(pools)
  const usd = tradeUsd(world) / 10
  const amounts = [worth(pool.token0, usd), random.chance(0.5) ? worth(pool.token1, usd) : 0n]
  const data = call(`donate(${KEY},uint256,uint256,bytes)`, keyOf(pool), ...amounts, '0x')
  return {
    transactions: [{ from: random.pick(wallets), to: contracts.v4.donate, data, value: valueFor(pool, usd * 1.1 + 1) }],
  }
}

export function initialize({ contracts }: Pick<World, 'contracts'>, pool: V4Pool, from: string): Transaction {
  const sqrtPrice = sqrtPriceOf(rawPrice(pool.token0, pool.token1))
  return { from, to: contracts.v4.manager, data: call(`initialize(${KEY},uint160)`, keyOf(pool), sqrtPrice) }
}

/** At most 0.1 % per direction (v4-core: ProtocolFeeLibrary.sol). */
const MAX_PROTOCOL_FEE = 1000

/** Protocol fees: set for one pool, or collected in one currency. */
export const protocolFee: Action = async (world) => {
  const { random, contracts, wallets } = world
  const pools = poolsOf(world, 'v4')
  if (pools.length === 0) return null
  const pool = random.pick(pools)
  const { deployer: from } = contracts
  const to = contracts.v4.manager
  if (random.chance(0.3)) {
    const data = call('collectProtocolFees(address,address,uint256)', random.pick(wallets), pool.token1.address, 0)
    return { transactions: [{ from, to, data }] }
  }
  const fee = random.int(0, MAX_PROTOCOL_FEE) | (random.int(0, MAX_PROTOCOL_FEE) << 12)
  return { transactions: [{ from, to, data: call(`setProtocolFee(${KEY},uint24)`, keyOf(pool), fee) }] }
}
