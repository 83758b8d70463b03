/** Transactions that fill a block besides trades: votes, transfers, and failed trades. */
import { decodeBase58, encodeBase58 } from '../../../services/ingest/decode/solana/keys/base58.js'
import { SYSTEM, TOKEN, VOTE } from '../../../services/ingest/decode/solana/native-programs.js'
import type { JsonTransaction } from '../../ingest/decode/solana/encodings.js'
import { compiledFrom } from './recorded/parsed-layouts.js'
import { keyFrom, signatureFrom } from './seeded.js'

const FEE = 5000
const RENT = 2_039_280

type Made = {
  name: string
  recentBlockhash: string
  /** Signers first, then writable accounts, then the others. */
  accounts: readonly string[]
  readonlyAccounts: number
  program: string
  places: number[]
  data: Uint8Array
  preBalances: number[]
  postBalances: number[]
  meta?: Record<string, unknown>
}

export function vote(name: string, recentBlockhash: string): JsonTransaction {
  const accounts = [keyFrom('a validator'), keyFrom('its votes'), VOTE]
  const balances = [9_000_000_000, 27_074_400, 1]
  return made({
    ...{ name, recentBlockhash, accounts, readonlyAccounts: 1, program: VOTE, places: [1, 0] },
    // `TowerSync`, by its number in the vote program's instructions.
    data: Uint8Array.of(14, 0, 0, 0),
    ...{ preBalances: balances, postBalances: [9_000_000_000 - FEE, 27_074_400, 1] },
  })
}

export function lamportTransfer(name: string, recentBlockhash: string, lamports: number): JsonTransaction {
  const accounts = [keyFrom('one who has SOL'), keyFrom('one who gets SOL'), SYSTEM]
  const info = { source: '', destination: '', lamports }
  return made({
    ...{ name, recentBlockhash, accounts, readonlyAccounts: 1, program: SYSTEM, places: [0, 1] },
    data: compiledFrom(SYSTEM, { type: 'transfer', info }).data,
    preBalances: [5_000_000_000, 1_000_000_000, 1],
    postBalances: [5_000_000_000 - FEE - lamports, 1_000_000_000 + lamports, 1],
  })
}

export type TokenMove = { mint: string; decimals: number; from: string; to: string; amount: bigint }
/** The balances of both before it. */
export type Held = { from: bigint; to: bigint }

export function tokenTransfer(name: string, recentBlockhash: string, move: TokenMove, held: Held): JsonTransaction {
  const { mint, decimals, from, to, amount } = move
  const [source, destination] = [keyFrom(`${mint} of ${from}`), keyFrom(`${mint} of ${to}`)]
  const accounts = [from, source, destination, mint, TOKEN]
  const info = { source, mint, destination, authority: from, tokenAmount: { amount: amount.toString(), decimals } }
  const balance = (accountIndex: number, owner: string, has: bigint) => ({
    accountIndex,
    mint,
    owner,
    programId: TOKEN,
    uiTokenAmount: { amount: has.toString(), decimals, uiAmount: Number(has) / 10 ** decimals, uiAmountString: '' },
  })
  return made({
    ...{ name, recentBlockhash, accounts, readonlyAccounts: 2, program: TOKEN, places: [1, 3, 2, 0] },
    data: compiledFrom(TOKEN, { type: 'transferChecked', info }).data,
    preBalances: [3_000_000_000, RENT, RENT, 1_461_600, 1],
    postBalances: [3_000_000_000 - FEE, RENT, RENT, 1_461_600, 1],
    meta: {
      preTokenBalances: [balance(1, from, held.from), balance(2, to, held.to)],
      postTokenBalances: [balance(1, from, held.from - amount), balance(2, to, held.to + amount)],
    },
  })
}

/** The same transaction, rejected by a program: only the fee is charged. */
export function failed({ transaction, meta, version }: JsonTransaction): JsonTransaction {
  const err = { InstructionError: [1, { Custom: 6001 }] }
  const [payer = 0, ...others] = meta.preBalances as number[]
  return {
    ...(version === undefined ? {} : { version }),
    transaction,
    meta: {
      ...meta,
      ...{ err, status: { Err: err }, innerInstructions: [], postTokenBalances: meta.preTokenBalances },
      postBalances: [payer - FEE, ...others],
    },
  }
}

/** A copy of a transaction with a new signature and blockhash. */
export function repeated({ transaction, meta, version }: JsonTransaction, name: string, recentBlockhash: string) {
  const { signatures, message } = transaction
  return {
    ...(version === undefined ? {} : { version }),
    transaction: {
      signatures: signatures.map((_, at) => signatureFrom(`${name} ${at}`)),
      message: { ...message, recentBlockhash },
    },
    meta,
  } satisfies JsonTransaction
}

/** The same with one unit more in its last token transfer: the program's log and the transfers disagree. */
export function garbled({ transaction, meta, version }: JsonTransaction): JsonTransaction {
  const { accountKeys } = transaction.message
  const token = [...accountKeys, ...(meta.loadedAddresses?.writable ?? []), ...(meta.loadedAddresses?.readonly ?? [])]
  const groups = meta.innerInstructions.map(({ index, instructions }) => ({ index, instructions: [...instructions] }))
  const last = groups.at(-1)
  const at = last?.instructions.findLastIndex(({ programIdIndex }) => token[programIdIndex] === TOKEN) ?? -1
  const call = last?.instructions[at]
  if (last === undefined || call === undefined) throw new Error('a trade without a transfer')
  const data = Buffer.from(decodeBase58(call.data))
  data.writeBigUInt64LE(data.readBigUInt64LE(1) + 1n, 1)
  last.instructions[at] = { ...call, data: encodeBase58(data) }
  return { ...(version === undefined ? {} : { version }), transaction, meta: { ...meta, innerInstructions: groups } }
}

function made({ name, recentBlockhash, accounts, readonlyAccounts, program, places, data, ...rest }: Made) {
  const { preBalances, postBalances, meta = {} } = rest
  const logMessages = [`Program ${program} invoke [1]`, `Program ${program} success`]
  const programIdIndex = accounts.indexOf(program)
  return {
    version: 'legacy' as const,
    transaction: {
      signatures: [signatureFrom(name)],
      message: {
        header: {
          numRequiredSignatures: 1,
          numReadonlySignedAccounts: 0,
          numReadonlyUnsignedAccounts: readonlyAccounts,
        },
        accountKeys: [...accounts],
        recentBlockhash,
        instructions: [{ programIdIndex, accounts: places, data: encodeBase58(data), stackHeight: null }],
      },
    },
    meta: {
      ...{ err: null, status: { Ok: null }, fee: FEE, computeUnitsConsumed: 150, innerInstructions: [], logMessages },
      ...{ preBalances, postBalances, preTokenBalances: [], postTokenBalances: [], rewards: [] },
      loadedAddresses: { writable: [], readonly: [] },
      ...meta,
    },
  }
}
