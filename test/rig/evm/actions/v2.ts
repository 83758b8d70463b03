/** Actions on Uniswap V2 and Pancake V2 pairs, through the router and directly. */
import { call, words } from '../abi.js'
import type { TestToken } from '../contracts.js'
import { entry, program, type Step } from '../handwritten.js'
import { lookAt, type Transaction, view } from '../transactions.js'
import { type Action, NEVER, poolsOf, route, tradeUsd, UINT256_MAX, type V2Pool, type World, worth } from '../world.js'

const transfer = ({ address }: TestToken, to: string, amount: bigint): Step =>
  view(address, 'transfer(address,uint256)', to, amount)
const pull = ({ address }: TestToken, from: string, to: string, amount: bigint): Step =>
  view(address, 'transferFrom(address,address,uint256)', from, to, amount)
const swapStep = (pool: V2Pool, out0: bigint, out1: bigint, to: string, data = '0x'): Step =>
  view(pool.address, 'swap(uint256,uint256,address,bytes)', out0, out1, to, data)

const pairs = (world: World): V2Pool[] => poolsOf(world, 'v2', 'pancakeV2')
const run = (from: string, world: World, steps: readonly Step[]): { transactions: Transaction[] } => ({
  transactions: [{ from, to: world.contracts.caller, data: entry(steps) }],
})

async function reservesOf({ node }: World, { address }: V2Pool): Promise<[bigint, bigint]> {
  const [reserve0 = 0n, reserve1 = 0n] = words(await lookAt(node, address, 'getReserves()'))
  return [reserve0, reserve1]
}

/** Less than the pair would give, because other trades may come first. */
const outOf = (amountIn: bigint, reserveIn: bigint, reserveOut: bigint): bigint =>
  (amountIn * reserveOut * 90n) / ((reserveIn + amountIn) * 100n)

export const throughRouter: Action = async (world) => {
  const { random, contracts, wallets } = world
  const found = route(world, poolsOf(world, 'v2'), 3)
  if (found === null) return null
  const [first, last] = [found.tokens[0], found.tokens.at(-1)]
  if (first === undefined || last === undefined) return null
  const from = random.pick(wallets)
  const path = found.tokens.map(({ address }) => address)
  const usd = tradeUsd(world)
  const amountIn = worth(first, usd)
  const isWeth = (token: TestToken) => token === contracts.tokens.weth
  const taxed = found.tokens.some(({ deflates }) => deflates)
  const suffix = taxed ? 'SupportingFeeOnTransferTokens' : ''
  const to = contracts.v2.router
  // Occasionally asks for too much, so that the transaction reverts.
  const least = random.chance(0.04) ? UINT256_MAX / 2n : 0n
  if (!taxed && random.chance(0.25)) {
    const signature = 'swapTokensForExactTokens(uint256,uint256,address[],address,uint256)'
    const data = call(signature, worth(last, usd), UINT256_MAX, path, from, NEVER)
    return { transactions: [{ from, to, data }] }
  }
  if (isWeth(first) && random.chance(0.5)) {
    const signature = `swapExactETHForTokens${suffix}(uint256,address[],address,uint256)`
    return { transactions: [{ from, to, data: call(signature, least, path, from, NEVER), value: amountIn }] }
  }
  const what = isWeth(last) && random.chance(0.5) ? 'ETH' : 'Tokens'
  const signature = `swapExactTokensFor${what}${suffix}(uint256,uint256,address[],address,uint256)`
  return { transactions: [{ from, to, data: call(signature, amountIn, least, path, from, NEVER) }] }
}

/** A trade that always works. */
export function surely({ contracts, wallets }: Pick<World, 'contracts' | 'wallets'>): Transaction {
  const [from = ''] = wallets
  const { weth, usdc } = contracts.tokens
  const signature = 'swapExactTokensForTokens(uint256,uint256,address[],address,uint256)'
  const path = [weth.address, usdc.address]
  return { from, to: contracts.v2.router, data: call(signature, worth(weth, 25), 0, path, from, NEVER) }
}

export const pastTheRouter: Action = async (world) => {
  const { random, wallets } = world
  const pool = random.pick(pairs(world))
  const from = random.pick(wallets)
  const [reserve0, reserve1] = await reservesOf(world, pool)
  const usd = tradeUsd(world)
  const [in0, in1] = [worth(pool.token0, usd), worth(pool.token1, usd)]
  const to = random.pick(wallets)
  const [pull0, pull1] = [pull(pool.token0, from, pool.address, in0), pull(pool.token1, from, pool.address, in1)]
  const [out0, out1] = [outOf(in1, reserve1, reserve0), outOf(in0, reserve0, reserve1)]
  const kind = random.weighted([
    [4, 'sell0'],
    [4, 'sell1'],
    // Two tokens in and one out, or two in and two out.
    [1, 'both in'],
    [1, 'both ways'],
  ] as const)
  if (kind === 'sell0') return out1 === 0n ? null : run(from, world, [pull0, swapStep(pool, 0n, out1, to)])
  if (kind === 'sell1') return out0 === 0n ? null : run(from, world, [pull1, swapStep(pool, out0, 0n, to)])
  if (kind === 'both in') return run(from, world, [pull0, pull1, swapStep(pool, 0n, out1, to)])
  return run(from, world, [pull0, pull1, swapStep(pool, out0 / 2n, out1 / 2n, to)])
}

export const flashSwap: Action = async (world) => {
  const { random, wallets, contracts } = world
  const pool = random.pick(pairs(world))
  if (pool.token0.deflates || pool.token1.deflates) return null
  const [reserve0, reserve1] = await reservesOf(world, pool)
  const share = BigInt(random.int(1, 300))
  const [out0, out1] = random.pick([
    [(reserve0 * share) / 1000n, 0n],
    [0n, (reserve1 * share) / 1000n],
    [(reserve0 * share) / 1000n, (reserve1 * share) / 2000n],
  ] as const)
  const back = (token: TestToken, out: bigint): Step[] =>
    out === 0n ? [] : [transfer(token, pool.address, out + out / 250n + 1n)]
  const repay = program([...back(pool.token0, out0), ...back(pool.token1, out1)])
  return run(random.pick(wallets), world, [swapStep(pool, out0, out1, contracts.caller, repay)])
}

export const add: Action = async (world) => {
  const { random, contracts, wallets } = world
  const pool = random.pick(pairs(world))
  const from = random.pick(wallets)
  return { transactions: addTo(world, pool, from, 10 ** (random.next() * 4 + 1), contracts.v2.router) }
}

/** Also for the first liquidity of a new pair. */
export function addTo(
  { contracts }: Pick<World, 'contracts'>,
  pool: Omit<V2Pool, 'address'> & { address?: string },
  from: string,
  usd: number,
  router: string,
): Transaction[] {
  const { token0, token1, kind, address = '' } = pool
  const [amount0, amount1] = [worth(token0, usd), worth(token1, usd)]
  if (kind === 'v2') {
    const signature = 'addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)'
    return [
      {
        from,
        to: router,
        data: call(signature, token0.address, token1.address, amount0, amount1, 0, 0, from, NEVER),
        gas: 6_000_000,
      },
    ]
  }
  const steps = [
    pull(token0, from, address, amount0),
    pull(token1, from, address, amount1),
    view(address, 'mint(address)', from),
  ]
  return [{ from, to: contracts.caller, data: entry(steps) }]
}

export const remove: Action = async (world) => {
  const { random, contracts, wallets, node } = world
  const pool = random.pick(pairs(world))
  const from = random.pick(wallets)
  const [held = 0n] = words(await lookAt(node, pool.address, 'balanceOf(address)', from))
  const amount = (held * BigInt(random.int(1, 60))) / 100n
  if (amount === 0n) return null
  const approve = (spender: string): Transaction => ({
    from,
    ...view(pool.address, 'approve(address,uint256)', spender, amount),
  })
  if (pool.kind === 'v2' && random.chance(0.5)) {
    const signature = 'removeLiquidity(address,address,uint256,uint256,uint256,address,uint256)'
    const data = call(signature, pool.token0.address, pool.token1.address, amount, 0, 0, from, NEVER)
    return { transactions: [approve(contracts.v2.router), { from, to: contracts.v2.router, data }] }
  }
  const steps = [
    view(pool.address, 'transferFrom(address,address,uint256)', from, pool.address, amount),
    view(pool.address, 'burn(address)', from),
  ]
  return { transactions: [approve(contracts.caller), ...run(from, world, steps).transactions] }
}

/** Tokens donated to a pair: left for the next trader, skimmed, or synced into the reserves. */
export const gift: Action = async (world) => {
  const { random, wallets } = world
  const pool = random.pick(pairs(world))
  const from = random.pick(wallets)
  const token = random.pick([pool.token0, pool.token1])
  const given = pull(token, from, pool.address, worth(token, tradeUsd(world) / 10))
  const after = random.weighted([
    [1, []],
    [2, [view(pool.address, 'sync()')]],
    [1, [view(pool.address, 'skim(address)', random.pick(wallets))]],
  ] as const)
  return run(from, world, [given, ...after])
}

export const lonelySync: Action = async (world) => {
  const pool = world.random.pick(pairs(world))
  return { transactions: [{ from: world.random.pick(world.wallets), ...view(pool.address, 'sync()') }] }
}
