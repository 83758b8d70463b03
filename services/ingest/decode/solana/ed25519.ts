/** Whether 32 bytes are a point of the curve of Solana's keys (RFC 8032, 5.1.3): addresses that programs derive must not be, so that nobody has their key. */

const P = 2n ** 255n - 19n
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
/** x² = 1 for the squares, by Euler: to the power of (p - 1) / 2 = 2^254 - 10. */
const HALF = (P - 1n) / 2n
const HALF_BITS = HALF.toString(2)
const Y_MASK = 2n ** 255n - 1n

/** x² = (y² - 1) / (d·y² + 1) has a root, or has not. The sign of x, the highest bit, makes no difference; y need not be below p. */
export function isOnCurve(bytes: Uint8Array): boolean {
  const y = littleEndian(bytes) & Y_MASK
  const ySquare = (y * y) % P
  const above = (ySquare + P - 1n) % P
  const below = (D * ySquare + 1n) % P
  // A quotient is a square where the product is: they differ by the square of what is below.
  return power((above * below) % P) <= 1n
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
}

function power(base: bigint): bigint {
  let result = 1n
  for (const bit of HALF_BITS) {
    result = (result * result) % P
    if (bit === '1') result = (result * base) % P
  }
  return result
}
