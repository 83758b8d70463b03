/** The price a trade was made at, for pools that state none and whose reserves are in no ratio to it. */
import type { Happening } from '../protocol.js'

const ONE = 2 ** 96
/** The field is one of uint160, as where protocols state it. */
const ABOVE = 2 ** 160

type Trade = Pick<Extract<Happening, { kind: 'swap' }>, 'tokenIn' | 'tokenOut' | 'amountIn' | 'amountOut'>

/**
 * The square root in Q64.96 of the pair's token 1 per token 0, both raw. To a double's precision: division and root are rounded
 * alike on every machine. Undefined: one of the amounts is nothing, or the price is out of all bounds.
 */
export function tradedSqrtPrice({ tokenIn, tokenOut, amountIn, amountOut }: Trade): bigint | undefined {
  const [amount0, amount1] = tokenIn < tokenOut ? [amountIn, amountOut] : [amountOut, amountIn]
  const root = Math.sqrt(Number(amount1) / Number(amount0)) * ONE
  return root >= 1 && root < ABOVE ? BigInt(Math.floor(root)) : undefined
}
