/** Unsigned integers of 64 bits made without asking the runtime for each: a transaction has a hundred of them. Every machine Node runs on has the low half first. */
const WHOLE = new BigUint64Array(1)
const HALVES = new Uint32Array(WHOLE.buffer)
const HALF = 2 ** 32
/** As many digits as a double holds exactly whatever they are. */
const EXACT_DIGITS = 15
const MAX_DIGITS = 20
const U64_MAX = 2n ** 64n - 1n
const [ZERO, NINE] = [48, 57]

/** Little-endian; the bytes must be there. */
export function u64At(bytes: Uint8Array, at: number): bigint {
  HALVES[0] = u32At(bytes, at)
  HALVES[1] = u32At(bytes, at + 4)
  return WHOLE[0] ?? 0n
}

export function u32At(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16)
  return (low | ((bytes[at + 3] ?? 0) << 24)) >>> 0
}

/** Null: it is none. */
export function u64OfNumber(value: number): bigint | null {
  if (value >= 0 && value <= Number.MAX_SAFE_INTEGER && Math.floor(value) === value) return exact(value)
  return Number.isInteger(value) && value >= 0 && value < 2 ** 64 ? BigInt(value) : null
}

/** Of decimal digits. Null: it is none. */
export function u64OfText(text: string): bigint | null {
  const { length } = text
  if (length === 0 || length > MAX_DIGITS) return null
  let number = 0
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < ZERO || code > NINE) return null
    number = number * 10 + (code - ZERO)
  }
  if (length <= EXACT_DIGITS) return exact(number)
  const whole = BigInt(text)
  return whole <= U64_MAX ? whole : null
}

function exact(value: number): bigint {
  const high = Math.floor(value / HALF)
  HALVES[0] = value - high * HALF
  HALVES[1] = high
  return WHOLE[0] ?? 0n
}
