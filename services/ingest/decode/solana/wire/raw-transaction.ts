/** A transaction as every encoding tells it: what it ran, by place among its accounts, and how balances moved. */
import { BadTransaction, Malformed } from '../decode-errors.js'
import { decodeBase58 } from '../keys/base58.js'
import type { TokenBalance } from '../transaction.js'
import { countAt, fieldsAt, isFields, keyAt, listAt, describeValue, textAt } from './shape.js'

export type RawTransaction = {
  /** The first one's. */
  signature: string
  /** How many signed it: the first of the accounts. */
  signers: number
  accounts: readonly string[]
  top: readonly RawInstruction[]
  /** What top-level instructions called, by their place. */
  inner: ReadonlyMap<number, readonly RawInstruction[]>
}

export type RawInstruction = {
  programId: string
  accounts: readonly string[]
  /** As base58 where no decoder reads it: to make bytes of it takes longer than all else. */
  data: Uint8Array | string
  /** 1 for a top-level instruction; null: the node does not tell. */
  stackHeight: number | null
  /** `jsonParsed`: what the node made of it instead of its accounts and data. */
  parsed: ParsedInstruction | null
}

/** By program: whether somebody reads what its instructions hold. */
export type IsRead = (programId: string) => boolean

export type ParsedInstruction = { type: string; info: Readonly<Record<string, unknown>> }

export type Balances = {
  logs: readonly string[] | null
  preLamports: readonly bigint[]
  postLamports: readonly bigint[]
  preTokens: ReadonlyMap<string, TokenBalance>
  postTokens: ReadonlyMap<string, TokenBalance>
}

const NO_DATA = new Uint8Array(0)

/** Places in messages are whole, not by instruction: making them up for millions that are fine takes longer than reading them. */
export function readInstruction(value: unknown, keys: readonly string[], isRead: IsRead): RawInstruction {
  const fields = fieldsAt(value, 'instructions')
  const stackHeight = stackHeightAt(fields.stackHeight)
  if (fields.parsed !== undefined) {
    const programId = keyAt(fields.programId, 'instructions.programId')
    return { programId, accounts: [], data: NO_DATA, stackHeight, parsed: parsedAt(fields.parsed) }
  }
  const isCompiled = fields.programIdIndex !== undefined
  const programId = isCompiled
    ? keyOf(fields.programIdIndex, keys, 'instructions.programIdIndex')
    : keyAt(fields.programId, 'instructions.programId')
  const places = listAt(fields.accounts, 'instructions.accounts')
  const accounts = new Array<string>(places.length)
  for (let place = 0; place < places.length; place += 1) {
    const at = places[place]
    accounts[place] = isCompiled ? keyOf(at, keys, 'instructions.accounts') : keyAt(at, 'instructions.accounts')
  }
  const text = textAt(fields.data, 'instructions.data')
  return { programId, accounts, data: isRead(programId) ? base58Data(text) : text, stackHeight, parsed: null }
}

export function stackHeightAt(value: unknown): number | null {
  return value === undefined || value === null ? null : countAt(value, 'instructions.stackHeight')
}

/** The account at a place among all of the transaction. */
export function keyOf(value: unknown, keys: readonly string[], path: string): string {
  const key = typeof value === 'number' ? keys[value] : undefined
  if (key === undefined)
    throw new BadTransaction(path, `must be a place among ${keys.length} accounts, got ${describeValue(value)}`)
  return key
}

export function base58Data(text: string): Uint8Array {
  try {
    return decodeBase58(text)
  } catch (error) {
    throw error instanceof Malformed ? new BadTransaction('instructions.data', `is no base58: ${error.message}`) : error
  }
}

/** A memo is parsed to a text; whatever is not a named thing with its facts tells us nothing. */
function parsedAt(value: unknown): ParsedInstruction {
  if (!isFields(value) || typeof value.type !== 'string' || !isFields(value.info)) return { type: '', info: {} }
  return { type: value.type, info: value.info }
}
