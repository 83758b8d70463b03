/** Converts a transaction from the encoding `json` to `jsonParsed`: keys with their roles, native programs parsed. */
import { decodeBase58 } from '../../../../services/ingest/decode/solana/keys/base58.js'
import type { JsonTransaction } from '../../../ingest/decode/solana/encodings.js'
import { parsedFrom } from './parsed-layouts.js'

type Compiled = JsonTransaction['transaction']['message']['instructions'][number]

export function asParsed({ transaction, meta, version }: JsonTransaction): unknown {
  const { header, accountKeys, instructions, ...message } = transaction.message
  const { numRequiredSignatures: signers, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header
  const own = accountKeys.map((pubkey, place) => ({
    pubkey,
    signer: place < signers,
    source: 'transaction',
    writable:
      place < signers
        ? place < signers - numReadonlySignedAccounts
        : place < accountKeys.length - numReadonlyUnsignedAccounts,
  }))
  const { loadedAddresses, innerInstructions, ...rest } = meta
  const loaded = (keys: readonly string[] = [], writable: boolean) =>
    keys.map((pubkey) => ({ pubkey, signer: false, source: 'lookupTable', writable }))
  const keys = [...own, ...loaded(loadedAddresses?.writable, true), ...loaded(loadedAddresses?.readonly, false)]
  const inWords = (each: Compiled) =>
    instructionInWords(
      each,
      keys.map(({ pubkey }) => pubkey),
    )
  return {
    ...(version === undefined ? {} : { version }),
    transaction: {
      ...transaction,
      message: { ...message, accountKeys: keys, instructions: instructions.map(inWords) },
    },
    meta: {
      ...rest,
      innerInstructions: innerInstructions.map(({ index, instructions: inner }) => ({
        index,
        instructions: inner.map(inWords),
      })),
    },
  }
}

function instructionInWords({ programIdIndex, accounts, data, stackHeight = null }: Compiled, keys: readonly string[]) {
  const keyAt = (place: number): string => keys[place] ?? ''
  const programId = keyAt(programIdIndex)
  const form = parsedFrom(programId, accounts.map(keyAt), decodeBase58(data))
  return form === null
    ? { accounts: accounts.map(keyAt), data, programId, stackHeight }
    : { ...form, programId, stackHeight }
}
