/** A transaction as every encoding has it, and its instructions in JSON: compiled, or parsed by the node. */
import { BadTransaction, Malformed } from '../decode-errors.js'
import { decodeBase58 } from '../keys/base58.js'
import type { TokenBalance } from '../transaction.js'
import { countAt, describeValue, fieldsAt, isFields, keyAt, listAt, textAt } from './shape.js'

export type RawTransaction = {
  /** The first one's. */
  signature: string
  /** Number of signers: the first of the accounts. */
  signers: number
  accounts: readonly string[]
  top: readonly RawInstruction[]
  /** Inner instructions, by the index of their top-level instruction. */
  inner: ReadonlyMap<number, readonly RawInstruction[]>
}

export type RawInstruction = {
  programId: string
  accounts: readonly string[]
  /** Left as base58 if no decoder reads it: decoding it is the slowest step. */
  data: Uint8Array | string
  /** 1 for a top-level instruction; null: not stated by the node. */
  stackHeight: number | null
  /** `jsonParsed`: the node's parsed form, instead of accounts and data. */
  parsed: ParsedInstruction | null
}

/** Whether a program's instruction data will be read. */
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

/** Error paths do not include the instruction's index: building them for millions of valid ones takes longer than reading them. */
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

/** The account at an index of the transaction's accounts. */
export function keyOf(value: unknown, keys: readonly string[], path: string): string {
  const key = typeof value === 'number' ? keys[value] : undefined
  if (key === undefined)
    throw new BadTransaction(path, `must be an index of ${keys.length} accounts, got ${describeValue(value)}`)
  return key
}

export function base58Data(text: string): Uint8Array {
  try {
    return decodeBase58(text)
  } catch (error) {
    throw error instanceof Malformed
      ? new BadTransaction('instructions.data', `is not base58: ${error.message}`)
      : error
  }
}

/** A memo is parsed to a text; only objects with a type and facts are used. */
function parsedAt(value: unknown): ParsedInstruction {
  if (!isFields(value) || typeof value.type !== 'string' || !isFields(value.info)) return { type: '', info: {} }
  return { type: value.type, info: value.info }
}
