/** Constant-product pools in exact integers, and their events. */
import { addressOf } from './addresses.js'
import { findToken, type MarketPool, type MarketToken, type PoolStyle, rawFor, type Stage } from './world.js'

export function describeToken({ writer }: Stage, token: MarketToken, withDecimals = true): void {
  const { address, symbol, decimals } = token
  writer.add({ type: 'token', token: address, name: `${symbol} token`, symbol, ...(withDecimals ? { decimals } : {}) })
}

export function makeToken(stage: Stage, symbol: string, decimals: number, fairUsd: number): MarketToken {
  const { world } = stage
  const token = {
    address: addressOf(world.family, `${world.chain}/${world.seed}/${symbol}`),
    symbol,
    decimals,
    fairUsd,
  }
  world.tokens.set(symbol, token)
  return token
}

export type PoolPlan = { usd: number; style?: PoolStyle; weight?: number; described?: boolean; label?: string }

/** A pool with `usd` on each side. Its tokens are in address order on EVM chains, in the given order elsewhere. */
export function makePool(stage: Stage, base: string, quote: string, plan: PoolPlan): MarketPool {
  const { world } = stage
  const pair = [findToken(world, base), findToken(world, quote)] as const
  const swapped = world.family === 'evm' && pair[0].address > pair[1].address
  const [token0, token1] = swapped ? [pair[1], pair[0]] : pair
  const style = plan.style ?? 'v2'
  const label = `${world.chain}/${world.seed}/pool/${base}/${quote}/${plan.label ?? world.pools.length}`
  const pool: MarketPool = {
    address: addressOf(world.family, label),
    amm: `swap-${style}`,
    style,
    ...{ token0, token1, reserve0: rawFor(token0, plan.usd), reserve1: rawFor(token1, plan.usd) },
    described: plan.described ?? true,
    weight: plan.weight ?? 4,
  }
  world.pools.push(pool)
  if (pool.described) describePool(stage, pool)
  return pool
}

export function describePool({ writer }: Stage, pool: MarketPool): void {
  pool.described = true
  const { address, amm, token0, token1 } = pool
  writer.add({ type: 'pool', pool: address, amm, token0: token0.address, token1: token1.address, fee: 3000 })
}

/** The reserves in the pool's events. */
export function recordedReserves(pool: MarketPool): { reserve0?: string; reserve1?: string } {
  if (pool.style === 'blind') return {}
  const [share0, share1] = pool.style === 'v3' ? [3n, 2n] : [1n, 1n]
  return { reserve0: String(pool.reserve0 / share0), reserve1: String(pool.reserve1 / share1) }
}

export function sqrtPriceOf(stage: Stage, pool: MarketPool): string {
  const fraction = stage.world.family === 'evm' ? 192n : 128n
  return String(squareRoot((pool.reserve1 << fraction) / pool.reserve0))
}

function squareRoot(value: bigint): bigint {
  if (value < 2n) return value
  let guess = 1n << BigInt(Math.ceil(value.toString(2).length / 2))
  for (;;) {
    const next = (guess + value / guess) >> 1n
    if (next >= guess) return guess
    guess = next
  }
}

export type Order = { token0In: boolean; amountIn: bigint; wallet: string }

/** The pool's output for an amount: 0.3 % fee, rounded down, never the whole reserve. */
export function quoteOut(pool: MarketPool, token0In: boolean, amountIn: bigint): bigint {
  const [reserveIn, reserveOut] = token0In ? [pool.reserve0, pool.reserve1] : [pool.reserve1, pool.reserve0]
  return (amountIn * 997n * reserveOut) / (reserveIn * 1000n + amountIn * 997n)
}

export function trade(stage: Stage, pool: MarketPool, order: Order, sameLog = false): bigint {
  const amountOut = quoteOut(pool, order.token0In, order.amountIn)
  if (order.token0In) {
    pool.reserve0 += order.amountIn
    pool.reserve1 -= amountOut
  } else {
    pool.reserve1 += order.amountIn
    pool.reserve0 -= amountOut
  }
  recordSwap(stage, pool, { ...order, amountOut }, sameLog)
  return amountOut
}

/** Records a swap; the pool must already have its state after it. */
export function recordSwap(stage: Stage, pool: MarketPool, done: Order & { amountOut: bigint }, sameLog = false): void {
  const { writer } = stage
  const [tokenIn, tokenOut] = done.token0In ? [pool.token0, pool.token1] : [pool.token1, pool.token0]
  const facts = {
    type: 'swap' as const,
    ...{ pool: pool.address, amm: pool.amm, sender: done.wallet, recipient: done.wallet, wallet: done.wallet },
    ...{ token_in: tokenIn.address, amount_in: String(done.amountIn) },
    ...{ token_out: tokenOut.address, amount_out: String(done.amountOut) },
    ...recordedReserves(pool),
    ...(pool.style === 'v3' ? { sqrt_price: sqrtPriceOf(stage, pool) } : {}),
  }
  if (sameLog) writer.addToSameLog(facts)
  else writer.add(facts)
}

/** Adds (or with a negative share removes) thousandths of both reserves. */
export function changeLiquidity(stage: Stage, pool: MarketPool, thousandths: bigint, wallet: string): void {
  const [amount0, amount1] = [(pool.reserve0 * thousandths) / 1000n, (pool.reserve1 * thousandths) / 1000n]
  pool.reserve0 += amount0
  pool.reserve1 += amount1
  recordLiquidity(stage, pool, thousandths < 0n ? 'remove' : 'add', amount0, amount1, wallet)
}

export function recordLiquidity(
  { writer }: Stage,
  pool: MarketPool,
  kind: 'create' | 'add' | 'remove',
  amount0: bigint,
  amount1: bigint,
  wallet: string,
): void {
  const size = (amount: bigint): string => String(amount < 0n ? -amount : amount)
  writer.add({
    ...{ type: 'liquidity', pool: pool.address, amm: pool.amm, kind, sender: wallet, wallet },
    ...{ amount0: size(amount0), amount1: size(amount1), ...recordedReserves(pool) },
  })
}

export function createLiquidity(stage: Stage, pool: MarketPool, wallet: string): void {
  recordLiquidity(stage, pool, 'create', pool.reserve0, pool.reserve1, wallet)
}
