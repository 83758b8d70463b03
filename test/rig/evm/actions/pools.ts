/** New pools, with their first liquidity if it can be added in the same block. */
import { addressOf, call, word } from '../abi.js'
import type { TestToken } from '../contracts.js'
import type { EvmNode } from '../node.js'
import { fullRange, rawPrice, sqrtPriceOf } from '../ticks.js'
import { lookAt, type Transaction, view } from '../transactions.js'
import { type Action, isV2, isV3, NATIVE, type Pool, type World, ZERO } from '../world.js'
import { addTo } from './v2.js'
import { mintIn } from './v3.js'
import { initialize, liquidityIn, withId } from './v4.js'

/** Fees and spacings that all factories here support. */
export const FEES = { v3: [500, 3000, 10_000], pancakeV3: [500, 2500, 10_000], v4: [500, 3000, 12_345] } as const
const SPACINGS: Record<number, number> = { 500: 10, 2500: 50, 3000: 60, 10000: 200, 12345: 77 }

/** Not on chain yet: its address is known only afterwards. */
export function planned(kind: Pool['kind'], a: TestToken, b: TestToken, fee = 0): Pool {
  const [token0, token1] = a.address < b.address ? [a, b] : [b, a]
  if (kind === 'v2' || kind === 'pancakeV2') return { kind, address: '', token0, token1 }
  const tickSpacing = SPACINGS[fee] ?? 1
  if (kind === 'v4') return withId({ kind, token0, token1, fee, tickSpacing, hooks: ZERO })
  return { kind, address: '', token0, token1, fee, tickSpacing }
}

const sameAs = (pool: Pool) => (other: Pool) =>
  other.kind === pool.kind &&
  other.token0 === pool.token0 &&
  other.token1 === pool.token1 &&
  feeOf(other) === feeOf(pool)
const feeOf = (pool: Pool): number => ('fee' in pool ? pool.fee : 0)

/** With the address from its factory; null: the factory has none. */
export async function located(
  node: EvmNode,
  { contracts }: Pick<World, 'contracts'>,
  pool: Pool,
): Promise<Pool | null> {
  if (pool.kind === 'v4') return pool
  const tokens = [pool.token0.address, pool.token1.address]
  const answer = isV2(pool)
    ? await lookAt(node, contracts[pool.kind].factory, 'getPair(address,address)', ...tokens)
    : await lookAt(node, contracts[pool.kind].factory, 'getPool(address,address,uint24)', ...tokens, pool.fee)
  const address = addressOf(word(answer))
  return address === ZERO ? null : { ...pool, address }
}

const POOL_GAS = 8_000_000

export function creation(world: Pick<World, 'contracts'>, pool: Pool, from: string, usd: number): Transaction[] {
  const { contracts } = world
  const { token0, token1 } = pool
  const sqrtPrice = sqrtPriceOf(rawPrice(token0, token1))
  if (isV2(pool)) {
    if (pool.kind === 'v2') return addTo(world, pool, from, usd, contracts.v2.router)
    const signature = 'createPair(address,address)'
    return [{ from, ...view(contracts.pancakeV2.factory, signature, token0.address, token1.address), gas: POOL_GAS }]
  }
  if (!isV3(pool))
    return [initialize(world, pool, from), liquidityIn(world, pool, from, fullRange(pool.tickSpacing), usd)]
  if (pool.kind === 'v3') {
    const signature = 'createAndInitializePoolIfNecessary(address,address,uint24,uint160)'
    const data = call(signature, token0.address, token1.address, pool.fee, sqrtPrice)
    const mint = mintIn(world, pool, from, fullRange(pool.tickSpacing), usd)
    return [{ from, to: contracts.v3.positions, data, gas: POOL_GAS }, mint]
  }
  const signature = 'createPool(address,address,uint24)'
  const made = view(contracts.pancakeV3.factory, signature, token0.address, token1.address, pool.fee)
  return [{ from, ...made, gas: POOL_GAS }]
}

export const create: Action = async (world) => {
  const { random, contracts, wallets, pools } = world
  const kind = random.pick(['v2', 'v3', 'v4'] as const)
  const tokens = Object.values(contracts.tokens).filter(({ deflates }) => kind === 'v2' || !deflates)
  const a = random.pick(kind === 'v4' && random.chance(0.3) ? [NATIVE] : tokens)
  // The native coin and its wrapped token are one coin, not a pair.
  const b = random.pick(tokens.filter((token) => token !== a && !(a === NATIVE && token === contracts.tokens.weth)))
  const pool = planned(kind, a, b, kind === 'v2' ? 0 : random.pick(FEES[kind]))
  if (pools.some(sameAs(pool))) return null
  return { transactions: creation(world, pool, random.pick(wallets), 10 ** (random.next() * 3 + 2)), makes: [pool] }
}
