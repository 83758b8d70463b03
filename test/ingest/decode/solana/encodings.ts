/** Converts a `json`-encoded transaction to the other encodings of a node, written from the formats' descriptions. */
import { decodeBase58, encodeBase58 } from '../../../../services/ingest/decode/solana/keys/base58.js'

type Compiled = { programIdIndex: number; accounts: number[]; data: string; stackHeight?: number | null }
type Lookup = { accountKey: string; writableIndexes: number[]; readonlyIndexes: number[] }

export type JsonTransaction = {
  version?: number | 'legacy'
  transaction: {
    signatures: string[]
    message: {
      header: { numRequiredSignatures: number; numReadonlySignedAccounts: number; numReadonlyUnsignedAccounts: number }
      accountKeys: string[]
      recentBlockhash: string
      instructions: Compiled[]
      addressTableLookups?: Lookup[]
    }
  }
  meta: {
    innerInstructions: { index: number; instructions: Compiled[] }[]
    loadedAddresses?: { writable: string[]; readonly: string[] }
    [name: string]: unknown
  }
}

export function asBase64(value: JsonTransaction): unknown {
  return { ...value, transaction: [Buffer.from(wireOf(value)).toString('base64'), 'base64'] }
}

export function asBase58(value: JsonTransaction): unknown {
  return { ...value, transaction: [encodeBase58(wireOf(value)), 'base58'] }
}

/** The format of nodes before encodings had names. */
export function asBareBase58(value: JsonTransaction): unknown {
  return { ...value, transaction: encodeBase58(wireOf(value)) }
}

/** As the gRPC client returns it, with bytes made by `bytes`. */
export function asYellowstone({ transaction, meta }: JsonTransaction, bytes: (bytes: Uint8Array) => unknown): unknown {
  const key = (text: string) => bytes(decodeBase58(text))
  const instruction = ({ programIdIndex, accounts, data, stackHeight }: Compiled) => ({
    programIdIndex,
    accounts: bytes(Uint8Array.from(accounts)),
    data: bytes(decodeBase58(data)),
    ...(stackHeight === undefined || stackHeight === null ? {} : { stackHeight }),
  })
  const { loadedAddresses, innerInstructions, preBalances, postBalances, ...rest } = meta
  const { message, signatures } = transaction
  return {
    signature: key(signatures[0] ?? ''),
    isVote: false,
    transaction: {
      signatures: signatures.map(key),
      message: {
        ...message,
        versioned: true,
        addressTableLookups: message.addressTableLookups ?? [],
        accountKeys: message.accountKeys.map(key),
        instructions: message.instructions.map(instruction),
      },
    },
    meta: {
      ...rest,
      err: undefined,
      preBalances: (preBalances as number[]).map(String),
      postBalances: (postBalances as number[]).map(String),
      innerInstructions: innerInstructions.map((group) => ({
        ...group,
        instructions: group.instructions.map(instruction),
      })),
      loadedWritableAddresses: loadedAddresses?.writable.map(key) ?? [],
      loadedReadonlyAddresses: loadedAddresses?.readonly.map(key) ?? [],
    },
    index: '0',
  }
}

function wireOf({ transaction, version }: JsonTransaction): Uint8Array {
  const { signatures, message } = transaction
  const { header, accountKeys, recentBlockhash, instructions, addressTableLookups = [] } = message
  const isVersioned = version === 0
  return Uint8Array.from([
    ...list(signatures.map((signature) => [...decodeBase58(signature)])),
    ...(isVersioned ? [0x80] : []),
    ...[header.numRequiredSignatures, header.numReadonlySignedAccounts, header.numReadonlyUnsignedAccounts],
    ...list(accountKeys.map((key) => [...decodeBase58(key)])),
    ...decodeBase58(recentBlockhash),
    ...list(
      instructions.map(({ programIdIndex, accounts, data }) => [
        programIdIndex,
        ...list(accounts.map((account) => [account])),
        ...list([...decodeBase58(data)].map((byte) => [byte])),
      ]),
    ),
    ...(isVersioned
      ? list(
          addressTableLookups.map(({ accountKey, writableIndexes, readonlyIndexes }) => [
            ...decodeBase58(accountKey),
            ...list(writableIndexes.map((index) => [index])),
            ...list(readonlyIndexes.map((index) => [index])),
          ]),
        )
      : []),
  ])
}

/** Items prefixed with their count, seven bits per byte. */
function list(items: number[][]): number[] {
  const bytes: number[] = []
  let length = items.length
  for (; length >= 0x80; length >>= 7) bytes.push((length & 0x7f) | 0x80)
  return [...bytes, length, ...items.flat()]
}
