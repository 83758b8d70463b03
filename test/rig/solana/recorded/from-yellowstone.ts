/** Converts a printed Yellowstone transaction (keys in base58, other bytes as lists of numbers) to the encoding `json`. */
import { encodeBase58 } from '../../../../services/ingest/decode/solana/keys/base58.js'
import type { JsonTransaction } from '../../../ingest/decode/solana/encodings.js'

type Bytes = readonly number[]
type Key = Bytes | string
type Instruction = { programIdIndex: number; accounts: Bytes; data: Bytes; stackHeight?: number }
export type YellowstoneTransaction = {
  transaction: {
    signatures: Key[]
    message: {
      header: JsonTransaction['transaction']['message']['header']
      accountKeys: Key[]
      recentBlockhash: Key
      instructions: Instruction[]
      versioned: boolean
      addressTableLookups: { accountKey: Key; writableIndexes: Bytes; readonlyIndexes: Bytes }[]
    }
  }
  meta: Record<string, unknown> & {
    innerInstructions: { index: number; instructions: Instruction[] }[]
    loadedWritableAddresses: Key[]
    loadedReadonlyAddresses: Key[]
  }
}

const text = (bytes: Key): string => (typeof bytes === 'string' ? bytes : encodeBase58(Uint8Array.from(bytes)))

const compiled = ({ programIdIndex, accounts, data, stackHeight }: Instruction) => ({
  programIdIndex,
  accounts: [...accounts],
  data: text(data),
  stackHeight: stackHeight ?? null,
})

export function fromYellowstone({ transaction, meta }: YellowstoneTransaction): JsonTransaction {
  const { message, signatures } = transaction
  const { innerInstructions, loadedWritableAddresses, loadedReadonlyAddresses, returnData: _, ...rest } = meta
  return {
    version: message.versioned ? 0 : 'legacy',
    transaction: {
      signatures: signatures.map(text),
      message: {
        header: message.header,
        accountKeys: message.accountKeys.map(text),
        recentBlockhash: text(message.recentBlockhash),
        instructions: message.instructions.map(compiled),
        addressTableLookups: message.addressTableLookups.map(({ accountKey, writableIndexes, readonlyIndexes }) => ({
          accountKey: text(accountKey),
          writableIndexes: [...writableIndexes],
          readonlyIndexes: [...readonlyIndexes],
        })),
      },
    },
    meta: {
      ...rest,
      status: { Ok: null },
      innerInstructions: innerInstructions.map(({ index, instructions }) => ({
        index,
        instructions: instructions.map(compiled),
      })),
      loadedAddresses: { writable: loadedWritableAddresses.map(text), readonly: loadedReadonlyAddresses.map(text) },
    },
  }
}
