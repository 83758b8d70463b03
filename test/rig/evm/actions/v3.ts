/** Actions on Uniswap V3 through its router and position manager, and directly on any V3 pool. */
import { addressOf, call, signed, word, words } from '../abi.js'
import { entry, paymentTokens, program, type Step } from '../handwritten.js'
import { fullRange, fullRangeLiquidity, MAX_SQRT_PRICE, MIN_SQRT_PRICE, onGrid } from '../ticks.js'
import { lookAt, type Transaction, view } from '../transactions.js'
import {
  type Action,
  NEVER,
  poolsOf,
  route,
  tradeUsd,
  UINT128_MAX,
  UINT256_MAX,
  type V3Pool,
  type World,
  worth,
} from '../world.js'

const pathOf = (tokens: readonly { address: string }[], fees: readonly number[]): string =>
  `0x${tokens.map(({ address }, at) => address.slice(2) + (fees[at]?.toString(16).padStart(6, '0') ?? '')).join('')}`

export const throughRouter: Action = async (world) => {
  const { random, contracts, wallets } = world
  const found = route(world, poolsOf(world, 'v3'), 3)
  const [first, last] = [found?.tokens[0], found?.tokens.at(-1)]
  if (found === null || first === undefined || last === undefined) return null
  const from = random.pick(wallets)
  const to = contracts.v3.router
  const fees = found.pools.map(({ fee }) => fee)
  const usd = tradeUsd(world)
  if (random.chance(0.3)) {
    const path = pathOf([...found.tokens].reverse(), [...fees].reverse())
    const data = call('exactOutput((bytes,address,uint256,uint256,uint256))', [
      path,
      from,
      NEVER,
      worth(last, usd),
      UINT256_MAX,
    ])
    return { transactions: [{ from, to, data }] }
  }
  const amountIn = worth(first, usd)
  const value = first === contracts.tokens.weth && random.chance(0.5) ? amountIn : 0n
  const data = call('exactInput((bytes,address,uint256,uint256,uint256))', [
    pathOf(found.tokens, fees),
    from,
    NEVER,
    amountIn,
    0,
  ])
  return { transactions: [{ from, to, data, value }] }
}

const tickOf = async ({ node }: World, { address }: V3Pool): Promise<number> =>
  Number(signed(word(await lookAt(node, address, 'slot0()'), 1), 24))

/** Wide, narrow around the price, or outside of it. */
async function someRange(world: World, pool: V3Pool): Promise<[number, number]> {
  const { random } = world
  if (random.chance(0.3)) return fullRange(pool.tickSpacing)
  const middle = onGrid(await tickOf(world, pool), pool.tickSpacing)
  const lower = middle + random.int(-20, 6) * pool.tickSpacing
  return [lower, lower + random.int(1, 24) * pool.tickSpacing]
}

export const mintPosition: Action = async (world) => {
  const { random, wallets } = world
  const pools = poolsOf(world, 'v3')
  if (pools.length === 0) return null
  const pool = random.pick(pools)
  return {
    transactions: [
      mintIn(world, pool, random.pick(wallets), await someRange(world, pool), 10 ** (random.next() * 4 + 1)),
    ],
  }
}

export function mintIn(
  world: Pick<World, 'contracts'>,
  pool: V3Pool,
  from: string,
  [lower, upper]: readonly [number, number],
  usd: number,
): Transaction {
  const { token0, token1, fee } = pool
  const signature = 'mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))'
  const amounts = [worth(token0, usd), worth(token1, usd), 0, 0]
  const data = call(signature, [token0.address, token1.address, fee, lower, upper, ...amounts, from, NEVER])
  return { from, to: world.contracts.v3.positions, data }
}

export const changePosition: Action = async (world) => {
  const { random, contracts, wallets, node } = world
  const from = random.pick(wallets)
  const { positions: to } = contracts.v3
  const held = Number(word(await lookAt(node, to, 'balanceOf(address)', from)))
  if (held === 0) return null
  const id = word(await lookAt(node, to, 'tokenOfOwnerByIndex(address,uint256)', from, random.int(0, held - 1)))
  const liquidity = words(await lookAt(node, to, 'positions(uint256)', id))[7] ?? 0n
  const share = (liquidity * BigInt(random.int(0, 100))) / 100n
  const less = call('decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))', [id, share, 0, 0, NEVER])
  const all = call('collect((uint256,address,uint128,uint128))', [id, from, UINT128_MAX, UINT128_MAX])
  const some = call('collect((uint256,address,uint128,uint128))', [id, from, 1000, 1000])
  const more = call('increaseLiquidity((uint256,uint256,uint256,uint256,uint256,uint256))', [
    id,
    10n ** 9n,
    10n ** 18n,
    0,
    0,
    NEVER,
  ])
  const both = call('multicall(bytes[])', [less, all])
  return { transactions: [{ from, to, data: random.pick([less, all, some, more, both]) }] }
}

const anyPool = (world: World): V3Pool => world.random.pick(poolsOf(world, 'v3', 'pancakeV3'))
const run = (world: World, steps: readonly Step[]): { transactions: Transaction[] } => ({
  transactions: [{ from: world.random.pick(world.wallets), to: world.contracts.caller, data: entry(steps) }],
})

export const swapInPool: Action = async (world) => {
  const { random, wallets } = world
  const pool = anyPool(world)
  const down = random.chance(0.5)
  const exactOut = random.chance(0.3)
  const token = down === exactOut ? pool.token1 : pool.token0
  const amount = worth(token, tradeUsd(world)) * (exactOut ? -1n : 1n)
  const limit = down ? MIN_SQRT_PRICE + 1n : MAX_SQRT_PRICE - 1n
  const signature = 'swap(address,bool,int256,uint160,bytes)'
  const payment = paymentTokens(pool.token0.address, pool.token1.address)
  return run(world, [view(pool.address, signature, random.pick(wallets), down, amount, limit, payment)])
}

export const mintInPool: Action = async (world) => {
  const pool = anyPool(world)
  const range = await someRange(world, pool)
  return run(world, [poolMint(world, pool, range, 10 ** (world.random.next() * 3))])
}

/** The position belongs to the caller's contract. */
export function poolMint(
  { contracts }: Pick<World, 'contracts'>,
  pool: V3Pool,
  [lower, upper]: readonly [number, number],
  usd: number,
): Step {
  const { token0, token1, address } = pool
  const liquidity = fullRangeLiquidity(token0, token1, usd)
  const payment = paymentTokens(token0.address, token1.address)
  return view(address, 'mint(address,int24,int24,uint128,bytes)', contracts.caller, lower, upper, liquidity, payment)
}

export const burnInPool: Action = async (world) => {
  const { random, wallets } = world
  const pool = anyPool(world)
  const [lower, upper] = fullRange(pool.tickSpacing)
  const liquidity = fullRangeLiquidity(pool.token0, pool.token1, 10 ** (random.next() * 3))
  const burn = view(pool.address, 'burn(int24,int24,uint128)', lower, upper, random.chance(0.2) ? 0n : liquidity)
  const most = random.chance(0.7) ? UINT128_MAX : 12_345n
  const to = random.pick(wallets)
  const collect = view(pool.address, 'collect(address,int24,int24,uint128,uint128)', to, lower, upper, most, most)
  return run(world, random.pick([[burn], [burn, collect], [collect]]))
}

export const flashLoan: Action = async (world) => {
  const { contracts, random } = world
  const pool = anyPool(world)
  const { token0, token1, fee } = pool
  const [amount0, amount1] = [worth(token0, tradeUsd(world)), random.chance(0.5) ? worth(token1, tradeUsd(world)) : 0n]
  const back = (token: string, amount: bigint): Step =>
    view(
      token,
      'transfer(address,uint256)',
      pool.address,
      amount + (amount * BigInt(fee)) / 1_000_000n + BigInt(random.int(1, 50)),
    )
  const repay = program([back(token0.address, amount0), back(token1.address, amount1)])
  return run(world, [
    view(pool.address, 'flash(address,uint256,uint256,bytes)', contracts.caller, amount0, amount1, repay),
  ])
}

/** Protocol fees: enabled, then collected. */
export const protocolFee: Action = async (world) => {
  const { contracts, random, node } = world
  const pool = anyPool(world)
  const from = contracts.deployer
  const to = random.pick(world.wallets)
  if (pool.kind === 'v3') {
    const [set, take] = ['setFeeProtocol(uint8,uint8)', 'collectProtocol(address,uint128,uint128)']
    const data = random.chance(0.5) ? call(set, 4, random.int(4, 10)) : call(take, to, UINT128_MAX, UINT128_MAX)
    return { transactions: [{ from, to: pool.address, data }] }
  }
  const owner = addressOf(word(await lookAt(node, contracts.pancakeV3.factory, 'owner()')))
  const signature = 'collectProtocol(address,address,uint128,uint128)'
  return {
    transactions: [
      { from: owner, ...view(contracts.pancakeV3.factory, signature, pool.address, to, UINT128_MAX, UINT128_MAX) },
    ],
  }
}
