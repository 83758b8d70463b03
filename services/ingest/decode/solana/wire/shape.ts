/** Typed fields of a node's response. The first invalid one is reported with its path. */

import { BadTransaction } from '../decode-errors.js'
import { isBase58 } from '../keys/base58.js'
import { u64OfNumber, u64OfText } from './byte-reader.js'

export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function fieldsAt(value: unknown, path: string): Fields {
  if (!isFields(value)) throw new BadTransaction(path, `must be an object, got ${describeValue(value)}`)
  return value
}

/** Null and missing are an empty list: nodes omit empty lists. */
export function listAt(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new BadTransaction(path, `must be a list, got ${describeValue(value)}`)
  return value
}

export function textAt(value: unknown, path: string): string {
  if (typeof value !== 'string') throw new BadTransaction(path, `must be a text, got ${describeValue(value)}`)
  return value
}

/** A safe integer from 0; protobuf's JSON has 64-bit integers as text. */
export function countAt(value: unknown, path: string): number {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0)
    throw new BadTransaction(path, `must be a whole number, got ${describeValue(value)}`)
  return number
}

/** Unsigned, 64 bits. */
export function amountAt(value: unknown, path: string): bigint {
  const amount = typeof value === 'number' ? u64OfNumber(value) : typeof value === 'string' ? u64OfText(value) : null
  if (amount === null)
    throw new BadTransaction(path, `must be an unsigned integer of 64 bits, got ${describeValue(value)}`)
  return amount
}

export function keyAt(value: unknown, path: string): string {
  if (typeof value !== 'string' || value.length < 32 || value.length > 44 || !isBase58(value))
    throw new BadTransaction(path, `must be a key, got ${describeValue(value)}`)
  return value
}

export function signatureAt(value: unknown, path: string): string {
  if (typeof value !== 'string' || value.length < 64 || value.length > 88 || !isBase58(value))
    throw new BadTransaction(path, `must be a signature, got ${describeValue(value)}`)
  return value
}

export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = typeof value === 'bigint' ? value.toString() : (JSON.stringify(value) ?? typeof value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
