/** Whether 32 bytes are a point of the curve of Solana's keys (RFC 8032, 5.1.3): addresses that programs derive must not be, so that nobody has their key. */

const P = 2n ** 255n - 19n
/** The curve's d, -121665/121666. */
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const Y_MASK = 2n ** 255n - 1n

/** x² = (y² - 1) / (d·y² + 1) has a root, or has not. The sign of x, the highest bit, makes no difference; y need not be below p. */
export function isOnCurve(bytes: Uint8Array): boolean {
  const y = littleEndian(bytes) & Y_MASK
  const ySquare = (y * y) % P
  const above = (ySquare + P - 1n) % P
  const below = (D * ySquare + 1n) % P
  // A quotient is a square where the product is: they differ by the square of what is below.
  return euler((above * below) % P) <= 1n
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
}

/** To the power of (p - 1) / 2 = 2^254 - 10 = (2^250 - 1) · 16 + 6: 1 for a square, 0 for 0. */
function euler(base: bigint): bigint {
  return (squared(ones(base, 250), 4) * base ** 6n) % P
}

/** To the power of 2^bits - 1, that is, of so many ones in binary. */
function ones(base: bigint, bits: number): bigint {
  if (bits === 1) return base
  if (bits % 2 === 1) return (squared(ones(base, bits - 1), 1) * base) % P
  const half = ones(base, bits / 2)
  return (squared(half, bits / 2) * half) % P
}

function squared(base: bigint, times: number): bigint {
  let result = base
  for (let n = 0; n < times; n += 1) result = (result * result) % P
  return result
}
