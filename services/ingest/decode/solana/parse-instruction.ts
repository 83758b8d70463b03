/** One instruction of a message or of the list of inner ones, in the forms of JSON: compiled, or parsed by the node. */
import { decodeBase58 } from './base58.js'
import { Malformed } from './malformed.js'
import type { ParsedInstruction, RawInstruction } from './raw-transaction.js'
import { BadTransaction, countAt, fieldsAt, isFields, keyAt, listAt, shown, textAt } from './shape.js'

const NO_DATA = new Uint8Array(0)

export function readInstruction(value: unknown, keys: readonly string[], path: string): RawInstruction {
  const fields = fieldsAt(value, path)
  const stackHeight = stackHeightAt(fields.stackHeight, path)
  if (fields.parsed !== undefined) {
    const parsed = parsedAt(fields.parsed)
    return { programId: keyAt(fields.programId, `${path}.programId`), accounts: [], data: NO_DATA, stackHeight, parsed }
  }
  const isCompiled = fields.programIdIndex !== undefined
  const programId = isCompiled
    ? keyOf(fields.programIdIndex, keys, `${path}.programIdIndex`)
    : keyAt(fields.programId, `${path}.programId`)
  const places = listAt(fields.accounts, `${path}.accounts`)
  const accounts: string[] = []
  for (let place = 0; place < places.length; place += 1) {
    const at = places[place]
    accounts.push(isCompiled ? keyOf(at, keys, `${path}.accounts`) : keyAt(at, `${path}.accounts`))
  }
  return { programId, accounts, data: dataAt(fields.data, `${path}.data`), stackHeight, parsed: null }
}

export function stackHeightAt(value: unknown, path: string): number | null {
  return value === undefined || value === null ? null : countAt(value, `${path}.stackHeight`)
}

/** The account at a place among all of the transaction. */
export function keyOf(value: unknown, keys: readonly string[], path: string): string {
  const key = typeof value === 'number' ? keys[value] : undefined
  if (key === undefined)
    throw new BadTransaction(path, `must be a place among ${keys.length} accounts, got ${shown(value)}`)
  return key
}

function dataAt(value: unknown, path: string): Uint8Array {
  const text = textAt(value, path)
  try {
    return decodeBase58(text)
  } catch (error) {
    throw error instanceof Malformed ? new BadTransaction(path, `is no base58: ${error.message}`) : error
  }
}

/** A memo is parsed to a text; whatever is not a named thing with its facts tells us nothing. */
function parsedAt(value: unknown): ParsedInstruction {
  if (!isFields(value) || typeof value.type !== 'string' || !isFields(value.info)) return { type: '', info: {} }
  return { type: value.type, info: value.info }
}
