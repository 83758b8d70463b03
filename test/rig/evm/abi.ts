/** ABI encoding of calls by signature, independent of the code under test. */
import { keccak_256 } from '@noble/hashes/sha3'

export type AbiValue = string | number | bigint | boolean | readonly AbiValue[]

export function keccak(bytes: string): string {
  return `0x${Buffer.from(keccak_256(Buffer.from(bytes.slice(2), 'hex'))).toString('hex')}`
}

export function hashOfText(text: string): string {
  return `0x${Buffer.from(keccak_256(Buffer.from(text))).toString('hex')}`
}

/** `call('transfer(address,uint256)', to, 1n)` is the call's data. */
export function call(signature: string, ...values: readonly AbiValue[]): string {
  const types = typesIn(signature.slice(signature.indexOf('(')))
  return `${hashOfText(signature).slice(0, 10)}${encodeAll(types, values)}`
}

/** Consecutive values, as in a constructor or `abi.encode`. */
export function encode(types: readonly string[], values: readonly AbiValue[]): string {
  return `0x${encodeAll(types, values)}`
}

/** The answer's words as unsigned integers. */
export function words(data: string): bigint[] {
  return Array.from({ length: Math.floor((data.length - 2) / 64) }, (_, at) =>
    BigInt(`0x${data.slice(2 + at * 64, 66 + at * 64)}`),
  )
}

export function word(data: string, at = 0): bigint {
  const value = words(data)[at]
  if (value === undefined) throw new Error(`no word ${at} in ${data}`)
  return value
}

export function signed(value: bigint, bits = 256): bigint {
  return BigInt.asIntN(bits, value)
}

export function addressOf(value: bigint): string {
  return `0x${BigInt.asUintN(160, value).toString(16).padStart(40, '0')}`
}

/** Splits `(a,(b,c)[],d)` into a, (b,c)[], d. */
function typesIn(tuple: string): string[] {
  const types: string[] = []
  let depth = 0
  let type = ''
  for (const sign of tuple.slice(1, tuple.lastIndexOf(')'))) {
    if (sign === '(') depth++
    if (sign === ')') depth--
    if (sign === ',' && depth === 0) {
      types.push(type)
      type = ''
    } else type += sign
  }
  return type === '' ? types : [...types, type]
}

const isDynamic = (type: string): boolean =>
  type === 'bytes' ||
  type === 'string' ||
  type.endsWith('[]') ||
  (type.startsWith('(') && typesIn(type).some(isDynamic))

function encodeAll(types: readonly string[], values: readonly AbiValue[]): string {
  if (types.length !== values.length) throw new Error(`${values.length} values for (${types.join(',')})`)
  const bodies = types.map((type, at) => encodeOne(type, values[at] ?? 0))
  const headBytes = types.reduce((sum, type, at) => sum + (isDynamic(type) ? 32 : (bodies[at] ?? '').length / 2), 0)
  let heads = ''
  let tails = ''
  for (const [at, body] of bodies.entries()) {
    if (isDynamic(types[at] ?? '')) {
      heads += wordOf(BigInt(headBytes + tails.length / 2))
      tails += body
    } else heads += body
  }
  return heads + tails
}

function encodeOne(type: string, value: AbiValue): string {
  if (typeof value === 'object') {
    if (type.endsWith('[]'))
      return (
        wordOf(BigInt(value.length)) +
        encodeAll(
          value.map(() => type.slice(0, -2)),
          value,
        )
      )
    return encodeAll(typesIn(type), value)
  }
  if (type === 'bytes' || type === 'string') {
    const bytes = type === 'bytes' ? String(value).slice(2) : Buffer.from(String(value)).toString('hex')
    return wordOf(BigInt(bytes.length / 2)) + bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')
  }
  return wordOf(BigInt(value))
}

function wordOf(value: bigint): string {
  return BigInt.asUintN(256, value).toString(16).padStart(64, '0')
}
