/** Two pools of the same tokens at different prices: one transaction buys in the cheaper and sells in the dearer. */

import { midOf, type Pool, rawOf, SLOT, wholeOf } from './market-state.js'
import type { Stage } from './stage.js'
import { swapInPool } from './swap-in-pool.js'

const LEAST_GAIN = 0.001

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
  // Until the prices meet, each pool moves by its part of the way.
  const share = dearDepth / (cheapDepth + dearDepth)
  const amountIn = rawOf(cheap.quote, cheapDepth * (Math.sqrt(ratio) - 1) * share * 0.8)
  if (amountIn === 0n || !ledger.provide(cheap.quote, wallet, amountIn)) return
  writer.transaction()
  const between = swapInPool(stage, { pool: cheap, wallet, buys: true, amountIn, recipient: dear.address })
  if (between > 0n) swapInPool(stage, { pool: dear, wallet, buys: false, amountIn: between })
}
