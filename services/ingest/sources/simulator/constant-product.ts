/** The arithmetic of Uniswap V2's pair and router, in its order of operations. */
const WHOLE = 10_000n

/** What the pool gives for an amount, after its fee. */
export function amountOut(amountIn: bigint, reserveIn: bigint, reserveOut: bigint, feeBps: bigint): bigint {
  const afterFee = amountIn * (WHOLE - feeBps)
  return (afterFee * reserveOut) / (reserveIn * WHOLE + afterFee)
}

/** floor(√value), exact. */
export function squareRoot(value: bigint): bigint {
  if (value < 2n) return value
  let root = BigInt(Math.floor(Math.sqrt(Number(value))))
  for (;;) {
    const next = (root + value / root) >> 1n
    if (next === root || next === root + 1n) break
    root = next
  }
  while (root * root > value) root -= 1n
  while ((root + 1n) * (root + 1n) <= value) root += 1n
  return root
}
