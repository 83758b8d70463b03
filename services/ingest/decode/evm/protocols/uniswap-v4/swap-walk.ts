/**
 * Replays a swap through the ticks, from the price before it to the price in its log. The log has only totals; the fee,
 * and the ranges that earned it, follow from the contract's steps: to the next initialised tick or the end of a bitmap
 * word, each rounded by itself (v4-core: Pool.sol `swap`, SwapMath.sol, TickBitmap.sol). The last step needs no
 * knowledge of the request (exact input, exact output, a price limit): its fee is always the remaining input less
 * floor(remaining × (1 − fee)).
 */

import { amount0Between, amount1Between, ceilDiv, MAX_TICK, MIN_TICK, sqrtPriceAtTick } from './liquidity-math.js'
import { crossed, type Growth, grown, type Ticks, tickAt, withTick } from './v4-state.js'

const PIPS = 1_000_000n

export type WalkFrom = {
  sqrtPrice: bigint
  tick: number
  tickSpacing: number
  liquidity: bigint
  ticks: Ticks
  growth: Growth
}

export type SwapTotals = {
  zeroForOne: boolean
  /** The whole input, fees included. */
  amountIn: bigint
  /** Of the input: the protocol's and the providers' fee together. */
  feePips: bigint
  protocolFeePips: bigint
  sqrtPriceAfter: bigint
  tickAfter: number
  liquidityAfter: bigint
}

export type Walked = {
  ticks: Ticks
  growth: Growth
  /** Of the input token: the providers' and the protocol's. */
  providersFee: bigint
  protocolFee: bigint
}

/** Null if the swap cannot lead from this state to the one in its log: then the state does not match the pool. */
export function walkSwap(from: WalkFrom, swap: SwapTotals): Walked | null {
  const { zeroForOne, sqrtPriceAfter } = swap
  const { tickSpacing } = from
  const token = zeroForOne ? 0 : 1
  let { sqrtPrice, tick, liquidity, ticks, growth } = from
  let left = swap.amountIn
  let providersFee = 0n
  let protocolFee = 0n
  if (zeroForOne ? sqrtPriceAfter > sqrtPrice : sqrtPriceAfter < sqrtPrice) return null

  for (let last = false; !last; ) {
    const next = nextStop(ticks, tick, tickSpacing, zeroForOne, liquidity === 0n)
    const nextPrice = sqrtPriceAtTick(next)
    const reached = zeroForOne ? sqrtPriceAfter <= nextPrice : sqrtPriceAfter >= nextPrice
    const whole = reached ? wholeStep(sqrtPrice, nextPrice, liquidity, swap) : null
    last = whole === null || (sqrtPriceAfter === nextPrice && left <= whole.paid)
    const paid = last || whole === null ? left : whole.paid
    if (paid > left) return null
    const fee = last || whole === null ? left - (left * (PIPS - swap.feePips)) / PIPS : whole.fee
    const toProtocol = protocolShare(paid, fee, swap)
    growth = grown(growth, token, fee - toProtocol, liquidity)
    providersFee += fee - toProtocol
    protocolFee += toProtocol
    left -= paid
    if (!reached) break
    // No valid price limit lets a swap end at the outermost ticks.
    if (next === (zeroForOne ? MIN_TICK : MAX_TICK)) return null
    const passed = tickAt(ticks, tickSpacing, next)
    if (passed !== undefined) {
      ticks = withTick(ticks, tickSpacing, next, crossed(passed, growth))
      liquidity += zeroForOne ? -passed.liquidityNet : passed.liquidityNet
    }
    sqrtPrice = nextPrice
    tick = zeroForOne ? next - 1 : next
    if (last && tick !== swap.tickAfter) return null
  }
  if (liquidity !== swap.liquidityAfter) return null
  return { ticks, growth, providersFee, protocolFee }
}

type WholeStep = { paid: bigint; fee: bigint }

function wholeStep(price: bigint, nextPrice: bigint, liquidity: bigint, swap: SwapTotals): WholeStep {
  const between = swap.zeroForOne ? amount0Between : amount1Between
  const amountIn = between(price, nextPrice, liquidity, 'up')
  const fee = swap.feePips === PIPS ? amountIn : ceilDiv(amountIn * swap.feePips, PIPS - swap.feePips)
  return { paid: amountIn + fee, fee }
}

/** The protocol takes its share of the input, rounded down; if providers have no fee, the whole fee. */
function protocolShare(paid: bigint, fee: bigint, { feePips, protocolFeePips }: SwapTotals): bigint {
  if (protocolFeePips === 0n) return 0n
  return feePips === protocolFeePips ? fee : (paid * protocolFeePips) / PIPS
}

/** Where the next step ends: at an initialised tick, else at the end of the bitmap word; without liquidity, word ends do not matter. */
function nextStop(ticks: Ticks, tick: number, tickSpacing: number, down: boolean, skipsWords: boolean): number {
  const column = Math.floor(tick / tickSpacing) + (down ? 0 : 1)
  const word = Math.floor(column / 256)
  const inWord = nearest(ticks.get(word), tick, down)
  if (inWord !== null) return inWord
  if (skipsWords) {
    const nextWord = nearest(ticks, down ? word - 1 : word, down)
    const beyond = nextWord === null ? null : nearest(ticks.get(nextWord), tick, down)
    return beyond ?? (down ? MIN_TICK : MAX_TICK)
  }
  return down ? Math.max(word * 256 * tickSpacing, MIN_TICK) : Math.min((word * 256 + 255) * tickSpacing, MAX_TICK)
}

/** Of the keys the highest at or below, or the lowest above. */
function nearest(bucket: ReadonlyMap<number, unknown> | undefined, from: number, down: boolean): number | null {
  let best: number | null = null
  for (const key of bucket?.keys() ?? []) {
    if (down ? key <= from && (best === null || key > best) : key > from && (best === null || key < best)) best = key
  }
  return best
}
