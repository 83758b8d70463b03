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

const LOWER_HEX = /^0x[0-9a-f]*$/

/** In lower case; null: not 0x and whole bytes, `chars` long with the prefix. Nodes write lower case, so that is looked for first. */
export function lowerBytes(value: unknown, chars?: number): string | null {
  if (typeof value !== 'string' || value.length % 2 !== 0 || (chars !== undefined && value.length !== chars))
    return null
  if (LOWER_HEX.test(value)) return value
  return BYTES.test(value) ? value.toLowerCase() : null
}

export const HASH_CHARS = 66
export const ADDRESS_CHARS = 42

export const toQuantity = (value: number): string => `0x${value.toString(16)}`
