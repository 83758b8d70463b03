/** Trading: noise around the fair price, trades that bring a pool back to it, and arbitrage between pools. */

import { fairOf, midOf, type Pool, rawOf, SLOT, wholeOf } from './market-state.js'
import { anyTrader, holderOf, type Stage, traderWith } from './stage.js'
import { swapInPool } from './swap-in-pool.js'

const LEAST_MEAN_USD = 20
const SIZE_SIGMA = 1.1
/** Share of a pool's quote side: noise moves a price by at most twice this. */
const LARGEST_NOISE = 0.012
const LARGEST_CORRECTION = 0.15
/** Above this distance from the fair price, a trade brings the price back; it must exceed the fee. */
const TOLERATED_GAP = 0.0035
const HOP_CHANCE = 0.06

/** A random pool by weight. */
export function anyPool({ state, random }: Stage): Pool {
  const { weights, pools } = state
  const wanted = random.next() * (weights.at(-1) ?? 0)
  let low = 0
  let high = weights.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((weights[middle] ?? 0) > wanted) high = middle
    else low = middle + 1
  }
  return pools[low] ?? flagshipOf(state)
}

export const flagshipOf = (state: Stage['state']): Pool => {
  const first = state.pools[0]
  if (first === undefined) throw new Error('The market has no pools')
  return first
}

/** Fewer swaps are larger: volume does not depend on the density. */
function sizeUsd({ state, random, swapsPerS }: Stage, pool: Pool): number {
  const share = pool.weight / (state.weights.at(-1) ?? 1)
  return Math.max(LEAST_MEAN_USD, pool.usdPerS / (share * swapsPerS)) * random.skewed(SIZE_SIGMA)
}

/** One swap, or two through the native coin, in its own transaction. */
export function tradeIn(stage: Stage, pool: Pool): void {
  const { random } = stage
  const depth = wholeOf(pool.quote, pool.quoteReserve)
  const gap = fairOf(pool) / midOf(pool) - 1
  const noise = Math.min(sizeUsd(stage, pool) / pool.quote.fairUsd, depth * LARGEST_NOISE)
  if (Math.abs(gap) > TOLERATED_GAP && random.chance(0.7)) {
    const correction = Math.min((depth * Math.abs(gap)) / 2, depth * LARGEST_CORRECTION)
    trade(stage, pool, gap > 0, Math.max(noise * 0.3, correction))
    return
  }
  const lean = Math.max(-0.4, Math.min(0.4, gap * 60))
  trade(stage, pool, random.chance(0.5 + lean), noise)
}

function trade(stage: Stage, pool: Pool, buys: boolean, quoteAmount: number): void {
  stage.writer.transaction()
  if (buys || !sell(stage, pool, quoteAmount)) buy(stage, pool, quoteAmount)
}

function buy(stage: Stage, pool: Pool, quoteAmount: number): void {
  const { ledger, random, state } = stage
  const wallet = anyTrader(stage)
  const amountIn = rawOf(pool.quote, quoteAmount)
  if (pool.quote === state.native && random.chance(HOP_CHANCE)) {
    const flagship = flagshipOf(state)
    const paid = rawOf(flagship.quote, quoteAmount * pool.quote.fairUsd)
    if (!ledger.provide(flagship.quote, wallet, paid)) return
    const between = swapInPool(stage, { pool: flagship, wallet, buys: true, amountIn: paid, recipient: pool.address })
    if (between > 0n) swapInPool(stage, { pool, wallet, buys: true, amountIn: between })
    return
  }
  if (ledger.provide(pool.quote, wallet, amountIn)) swapInPool(stage, { pool, wallet, buys: true, amountIn })
}

/** False if there are no holders. */
function sell(stage: Stage, pool: Pool, quoteAmount: number): boolean {
  const { ledger } = stage
  const wanted = rawOf(pool.base, quoteAmount / midOf(pool))
  let wallet = traderWith(stage, pool.base, wanted)
  if (wallet === undefined) {
    const client = anyTrader(stage)
    wallet = ledger.provide(pool.base, client, wanted) ? client : holderOf(stage, pool.base)
    if (wallet === undefined) return false
  }
  const balance = ledger.balanceOf(pool.base, wallet)
  // A small remainder is sold too.
  const amountIn = balance < wanted + wanted / 4n ? balance : wanted
  return swapInPool(stage, { pool, wallet, buys: false, amountIn }) > 0n
}

/** A few raw units: worthless, but still a trade. */
export function tradeDust(stage: Stage, pool: Pool): void {
  const { random, ledger, writer } = stage
  const buys = pool.quote.decimals <= pool.base.decimals
  const token = buys ? pool.quote : pool.base
  const amountIn = token.decimals <= 9 ? BigInt(random.int(1, 999)) : rawOf(token, 0.002 / token.fairUsd)
  const wallet = anyTrader(stage)
  if (!ledger.provide(token, wallet, amountIn)) return
  writer.transaction()
  swapInPool(stage, { pool, wallet, buys, amountIn })
}

/** Through a nearly empty pool and back: both swaps are far from its normal price. */
export function throwPrice(stage: Stage): void {
  const { state, random, ledger, writer } = stage
  const pool = state.hollow
  const wallet = anyTrader(stage)
  const amountIn = pool.quoteReserve * BigInt(random.int(6, 12))
  if (!ledger.provide(pool.quote, wallet, amountIn)) return
  writer.transaction()
  const bought = swapInPool(stage, { pool, wallet, buys: true, amountIn })
  writer.transaction()
  swapInPool(stage, { pool, wallet, buys: false, amountIn: bought })
}

const LEAST_GAIN = 0.001

/** Two pools of the same tokens at different prices: one transaction buys in the cheaper and sells in the dearer. */
export function arbitrage(stage: Stage, pool: Pool): void {
  for (const sibling of pool.siblings) {
    const [cheap, dear] = midOf(pool) < midOf(sibling) ? [pool, sibling] : [sibling, pool]
    const ratio = midOf(dear) / midOf(cheap)
    if (ratio < 1 + Number(cheap.feeBps + dear.feeBps) / 10_000 + LEAST_GAIN) continue
    takeDifference(stage, cheap, dear, ratio)
    return
  }
}

function takeDifference(stage: Stage, cheap: Pool, dear: Pool, ratio: number): void {
  const { ledger, writer } = stage
  const wallet = SLOT.arbitrage
  const cheapDepth = wholeOf(cheap.quote, cheap.quoteReserve)
  const dearDepth = wholeOf(dear.quote, dear.quoteReserve)
  // Each pool moves its share of the way until the prices meet.
  const share = dearDepth / (cheapDepth + dearDepth)
  const amountIn = rawOf(cheap.quote, cheapDepth * (Math.sqrt(ratio) - 1) * share * 0.8)
  if (amountIn === 0n || !ledger.provide(cheap.quote, wallet, amountIn)) return
  writer.transaction()
  const between = swapInPool(stage, { pool: cheap, wallet, buys: true, amountIn, recipient: dear.address })
  if (between > 0n) swapInPool(stage, { pool: dear, wallet, buys: false, amountIn: between })
}
