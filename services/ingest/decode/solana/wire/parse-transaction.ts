/** Parses a transaction in any encoding. Checks first whether it touches a decoded program: most do not. */

import { BadTransaction } from '../decode-errors.js'
import { encodeBase58 } from '../keys/base58.js'
import { isNativeMover, TOKEN, TOKEN_2022, VOTE, WRAPPED_SOL } from '../native-programs.js'
import type { OpenedToken, SolanaTransaction } from '../transaction.js'
import { addLoadedAccounts, innerInstructions, jsonAccounts, jsonSignature, readJson } from './parse-json.js'
import { fillWithheldFees, parsedOpening } from './parse-transfer.js'
import { buildTree } from './parse-tree.js'
import { readWire, wireInstructions } from './parse-wire.js'
import { readYellowstone, yellowstoneAccounts, yellowstoneSignature } from './parse-yellowstone.js'
import {
  type Balances,
  type IsRead,
  type RawInstruction,
  type RawTransaction,
  readBalances,
} from './raw-transaction.js'
import { describeValue, type Fields, fieldsAt, isFields, listAt, textAt } from './shape.js'

export type Place = {
  slot: number
  /** In the block. */
  index: number
}

/** Whether a transaction with this account is to be decoded. */
export type IsWanted = (account: string) => boolean

/**
 * `value`: `{transaction, meta}` as in `getTransaction`, a block's `transactions`, or Yellowstone's `SubscribeUpdateTransactionInfo`. Null: failed, a vote, or
 * without a wanted account. Throws only `BadTransaction`.
 */
export function parseTransaction(value: unknown, place: Place, isWanted: IsWanted): SolanaTransaction | null {
  const { transaction, meta: metaValue, isVote } = fieldsAt(value, '')
  const meta = fieldsAt(metaValue, 'meta')
  if ((meta.err !== undefined && meta.err !== null) || isVote === true) return null
  const read = reading(transaction, meta)
  if (!read.accounts.some(isWanted)) return null
  const isRead = (programId: string) => isWanted(programId) || isNativeMover(programId)
  return whole(read.rest(isRead), meta, place, isWanted)
}

/**
 * Only the balances, for a transaction that is not decoded but may move tokens. Null: failed, a vote, or without a token whose
 * balances are wanted. Throws only `BadTransaction`.
 */
export function parseBalances(
  value: unknown,
  { index }: Place,
  isHeld: (mint: string) => boolean,
): (Balances & Pick<SolanaTransaction, 'accounts' | 'index' | 'signature'>) | null {
  const { transaction, meta: metaValue, isVote } = fieldsAt(value, '')
  const meta = fieldsAt(metaValue, 'meta')
  if ((meta.err !== undefined && meta.err !== null) || isVote === true) return null
  const isMoved = (tokens: unknown) =>
    listAt(tokens, 'tokens').some((token) => isFields(token) && isHeldMint(token.mint))
  const isHeldMint = (mint: unknown) => typeof mint === 'string' && isHeld(mint)
  if (!isHeld(WRAPPED_SOL) && !isMoved(meta.preTokenBalances) && !isMoved(meta.postTokenBalances)) return null
  const { accounts, signature } = reading(transaction, meta)
  if (accounts.includes(VOTE)) return null
  return { index, accounts, signature: signature(), ...readBalances(meta, accounts) }
}

type Reading = { accounts: readonly string[]; signature(): string; rest(isRead: IsRead): RawTransaction }

/** Reads the accounts first, and the rest only if one is wanted. */
function reading(transaction: unknown, meta: Fields): Reading {
  if (isFields(transaction)) {
    const { message } = transaction
    if (isYellowstone(message)) {
      const accounts = yellowstoneAccounts(message, meta)
      return {
        accounts,
        signature: () => yellowstoneSignature(transaction),
        rest: () => readYellowstone(transaction, meta, accounts),
      }
    }
    const accounts = jsonAccounts(message, meta)
    return {
      accounts,
      signature: () => jsonSignature(transaction),
      rest: (isRead) => readJson(transaction, meta, accounts, isRead),
    }
  }
  const [bytes, encoding] = Array.isArray(transaction) ? (transaction as unknown[]) : [transaction, 'base58']
  if (encoding !== 'base58' && encoding !== 'base64')
    throw new BadTransaction('transaction', `must be in base58 or base64, got ${describeValue(encoding)}`)
  const wire = readWire(textAt(bytes, 'transaction'), encoding)
  const accounts = wire.keys
  addLoadedAccounts(meta, accounts)
  return {
    accounts,
    signature: () => wire.signature,
    rest: (isRead) => ({
      signature: wire.signature,
      signers: wire.signers,
      accounts,
      top: wireInstructions(wire, accounts),
      inner: innerInstructions(meta, accounts, isRead),
    }),
  }
}

/** Only Yellowstone has keys as bytes and a `versioned` flag in the message. */
function isYellowstone(message: unknown): boolean {
  if (!isFields(message)) return false
  if (message.versioned !== undefined) return true
  const first: unknown = Array.isArray(message.accountKeys) ? message.accountKeys[0] : undefined
  return Array.isArray(first) || first instanceof Uint8Array
}

function whole(raw: RawTransaction, meta: Fields, { slot, index }: Place, isWanted: IsWanted): SolanaTransaction {
  const { signature, accounts } = raw
  const [feePayer] = accounts
  if (feePayer === undefined) throw new BadTransaction('message.accountKeys', 'is empty: the fee payer is missing')
  const balances = readBalances(meta, accounts)
  refuseUnrecorded(raw, balances.logs)
  const opened = openedTokens(raw)
  const { preTokens, postTokens, logs } = balances
  const mintOf = (account: string): string | null =>
    (preTokens.get(account) ?? postTokens.get(account) ?? opened.get(account))?.mint ?? null
  const instructions = buildTree(raw, logs, mintOf, isWanted)
  if (accounts.includes(TOKEN_2022)) fillWithheldFees(instructions, preTokens, postTokens)
  return {
    signature,
    slot,
    index,
    feePayer,
    signers: accounts.slice(0, raw.signers),
    accounts,
    instructions,
    logs,
    preLamports: balances.preLamports,
    postLamports: balances.postLamports,
    preTokens,
    postTokens,
    openedTokens: opened,
  }
}

/** A node may not record inner instructions: their trades would be missed silently. */
function refuseUnrecorded({ inner }: RawTransaction, logs: readonly string[] | null): void {
  if (inner.size === 0 && logs?.some((line) => line.endsWith(CALLED)) === true)
    throw new BadTransaction(
      'meta.innerInstructions',
      'are missing, but the logs show calls: the node does not record inner instructions. Use another node',
    )
}

const CALLED = ' invoke [2]'

const INITIALIZE = 1
/** Versions 2 and 3 have the owner in their data. */
const INITIALIZE_2 = 16
const INITIALIZE_3 = 18
const OWNER_END = 33

/** Token accounts the transaction opens, including those it closes again. */
export function openedTokens({ top, inner }: Pick<RawTransaction, 'top' | 'inner'>): Map<string, OpenedToken> {
  const opened = new Map<string, OpenedToken>()
  for (const raw of top) note(raw, opened)
  for (const list of inner.values()) for (const raw of list) note(raw, opened)
  return opened
}

function note({ programId, accounts, data, parsed }: RawInstruction, opened: Map<string, OpenedToken>): void {
  if (programId !== TOKEN && programId !== TOKEN_2022) return
  if (parsed !== null) {
    const opening = parsedOpening(parsed)
    if (opening !== null) opened.set(opening.account, { mint: opening.mint, owner: opening.owner })
    return
  }
  if (typeof data === 'string') return
  const [account, mint, owner] = accounts
  const tag = data[0]
  if (account === undefined || mint === undefined) return
  if (tag === INITIALIZE && owner !== undefined) opened.set(account, { mint, owner })
  else if ((tag === INITIALIZE_2 || tag === INITIALIZE_3) && data.length >= OWNER_END)
    opened.set(account, { mint, owner: encodeBase58(data.subarray(1, OWNER_END)) })
}
