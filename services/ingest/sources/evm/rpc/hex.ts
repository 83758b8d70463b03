/** JSON-RPC's hexadecimal: quantities as numbers, and checks of hashes, addresses and bytes. */

const HASH = /^0x[0-9a-fA-F]{64}$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const BYTES = /^0x(?:[0-9a-fA-F]{2})*$/
const [CODE_0, CODE_9, CODE_A, CODE_F, CODE_X] = [48, 57, 97, 102, 120]
/** 13 digits are 52 bits. */
const LONGEST_QUANTITY = 15

/** Null if it is not a quantity that a double holds exactly. Read by character: most have one to six digits. */
export function quantity(value: unknown): number | null {
  if (typeof value !== 'string' || value.length < 3 || value.length > LONGEST_QUANTITY || !hasPrefix(value)) return null
  let number = 0
  for (let place = 2; place < value.length; place++) {
    const digit = digitOf(value.charCodeAt(place))
    if (digit < 0) return null
    number = number * 16 + digit
  }
  return number
}

const hasPrefix = (value: string): boolean => value.charCodeAt(0) === CODE_0 && value.charCodeAt(1) === CODE_X

function digitOf(code: number): number {
  if (code >= CODE_0 && code <= CODE_9) return code - CODE_0
  const lower = code | 32
  return lower >= CODE_A && lower <= CODE_F ? lower - CODE_A + 10 : -1
}

export const isHash = (value: unknown): value is string => typeof value === 'string' && HASH.test(value)
export const isAddress = (value: unknown): value is string => typeof value === 'string' && ADDRESS.test(value)
export const isBytes = (value: unknown): value is string => typeof value === 'string' && BYTES.test(value)

const FIRST_SCRATCH_BYTES = 4096
let scratch = Buffer.allocUnsafe(FIRST_SCRATCH_BYTES)

/** Lower-cased; null if it is not 0x and whole bytes. */
export function lowerBytes(value: unknown): string | null {
  if (typeof value !== 'string' || value.length % 2 !== 0 || !hasPrefix(value)) return null
  const bytes = value.length / 2 - 1
  if (bytes > scratch.length) scratch = Buffer.allocUnsafe(2 * bytes)
  // `write` stops at the first non-digit. Several times faster than a regular expression.
  return scratch.write(value.slice(2), 0, bytes, 'hex') === bytes ? value.toLowerCase() : null
}

/** Addresses and topics recur. */
const REMEMBERED = 20_000
const lowered = new Map<string, string>()

/** The same for texts of `chars` characters, prefix included. Cached, so that equal texts share one string. */
export function lowerWord(value: unknown, chars: number): string | null {
  if (typeof value !== 'string' || value.length !== chars) return null
  const known = lowered.get(value)
  if (known !== undefined) return known
  const lower = lowerBytes(value)
  if (lower === null) return null
  if (lowered.size >= REMEMBERED) lowered.clear()
  lowered.set(value, lower)
  return lower
}

export const HASH_CHARS = 66
export const ADDRESS_CHARS = 42

export const toQuantity = (value: number): string => `0x${value.toString(16)}`
