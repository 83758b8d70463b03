/** JSON-RPC's hexadecimal: quantities as numbers, and whether a text is what it should be. */

const QUANTITY = /^0x[0-9a-fA-F]{1,13}$/
const HASH = /^0x[0-9a-fA-F]{64}$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const BYTES = /^0x(?:[0-9a-fA-F]{2})*$/

/** Null: no quantity, or none that a double holds exactly (13 digits are 52 bits). */
export function quantity(value: unknown): number | null {
  return typeof value === 'string' && QUANTITY.test(value) ? Number.parseInt(value, 16) : null
}

export const isHash = (value: unknown): value is string => typeof value === 'string' && HASH.test(value)
export const isAddress = (value: unknown): value is string => typeof value === 'string' && ADDRESS.test(value)
export const isBytes = (value: unknown): value is string => typeof value === 'string' && BYTES.test(value)

const FIRST_SCRATCH_BYTES = 4096
let scratch = Buffer.allocUnsafe(FIRST_SCRATCH_BYTES)

/** In lower case; null: not 0x and whole bytes, `chars` long with the prefix. */
export function lowerBytes(value: unknown, chars?: number): string | null {
  if (typeof value !== 'string' || value.length % 2 !== 0 || (chars !== undefined && value.length !== chars))
    return null
  if (value.charCodeAt(0) !== CODE_0 || value.charCodeAt(1) !== CODE_X) return null
  const bytes = value.length / 2 - 1
  if (bytes > scratch.length) scratch = Buffer.allocUnsafe(2 * bytes)
  // Writing ends at the first character that is no digit. Several times as quick as an expression over the text.
  return scratch.write(value.slice(2), 0, bytes, 'hex') === bytes ? value.toLowerCase() : null
}

const CODE_0 = 48
const CODE_X = 120

export const HASH_CHARS = 66
export const ADDRESS_CHARS = 42

export const toQuantity = (value: number): string => `0x${value.toString(16)}`
