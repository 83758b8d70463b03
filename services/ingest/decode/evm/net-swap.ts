/** What moved in a swap, by token: what the pool got less what it gave. */
import type { TradeOrLiquidity } from './protocols/uniswap-v2/pair-ledger.js'

/**
 * One token came, the other went (or nothing went, where what was given rounds to nothing): a swap. Both the same way, or neither:
 * nothing was traded. `net`: positive is the pool's gain.
 */
export function netSwap(
  [net0, net1]: readonly [bigint, bigint],
  sender: string,
  recipient: string,
  sqrtPrice?: bigint,
): TradeOrLiquidity {
  const price = sqrtPrice === undefined ? {} : { sqrtPrice }
  if (net0 > 0n && net1 <= 0n) {
    return { kind: 'swap', sender, recipient, tokenIn: 0, tokenOut: 1, amountIn: net0, amountOut: -net1, ...price }
  }
  if (net1 > 0n && net0 <= 0n) {
    return { kind: 'swap', sender, recipient, tokenIn: 1, tokenOut: 0, amountIn: net1, amountOut: -net0, ...price }
  }
  return { kind: 'reserves', sender }
}
