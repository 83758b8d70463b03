/** A transaction as every encoding has it: its instructions in JSON (compiled, or parsed by the node), balances and logs. */
import { BadTransaction, Malformed } from '../decode-errors.js'
import { decodeBase58 } from '../keys/base58.js'
import type { TokenBalance } from '../transaction.js'
import { amountAt, countAt, describeValue, type Fields, fieldsAt, isFields, keyAt, listAt, textAt } from './shape.js'

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

/** Balances before and after, and the logs, from the `meta` a node adds to a transaction. The same in every encoding. */
export function readBalances(meta: Fields, accounts: readonly string[]): Balances {
  const preLamports = lamportsAt(meta.preBalances, 'preBalances')
  const postLamports = lamportsAt(meta.postBalances, 'postBalances')
  return {
    logs: logsAt(meta),
    preLamports,
    postLamports,
    preTokens: tokensAt(meta.preTokenBalances, accounts, 'preTokenBalances'),
    postTokens: tokensAt(meta.postTokenBalances, accounts, 'postTokenBalances'),
  }
}

function lamportsAt(value: unknown, path: string): bigint[] {
  const list = listAt(value, path)
  const lamports: bigint[] = []
  for (let at = 0; at < list.length; at += 1) lamports.push(amountAt(list[at], path))
  return lamports
}

/** `logMessagesNone`: Yellowstone's flag for a node without logs. */
function logsAt({ logMessages, logMessagesNone }: Fields): string[] | null {
  if (logMessages === undefined || logMessages === null || logMessagesNone === true) return null
  const list = listAt(logMessages, 'logMessages')
  for (let at = 0; at < list.length; at += 1) textAt(list[at], 'logMessages')
  return list as string[]
}

export function tokensAt(value: unknown, accounts: readonly string[], path: string): Map<string, TokenBalance> {
  const tokens = new Map<string, TokenBalance>()
  for (const item of listAt(value, path)) {
    const { accountIndex, mint, owner, uiTokenAmount } = fieldsAt(item, path)
    const account = accounts[countAt(accountIndex, path)]
    if (account === undefined)
      throw new BadTransaction(path, `has account index ${accountIndex}, but there are ${accounts.length} accounts`)
    const { amount, decimals } = fieldsAt(uiTokenAmount, path)
    // Protobuf omits a zero.
    const places = decimals === undefined ? 0 : countAt(decimals, path)
    if (places > 255) throw new BadTransaction(path, `has a token with ${places} decimals; the maximum is 255`)
    tokens.set(account, {
      mint: keyAt(mint, path),
      owner: owner === undefined || owner === null || owner === '' ? null : keyAt(owner, path),
      amount: amountAt(amount, path),
      decimals: places,
    })
  }
  return tokens
}
