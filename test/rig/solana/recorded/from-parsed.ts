/** Converts a transaction from the encoding `jsonParsed` to `json`: parsed instructions are compiled again. */
import { encodeBase58 } from '../../../../services/ingest/decode/solana/keys/base58.js'
import type { JsonTransaction } from '../../../ingest/decode/solana/encodings.js'
import { compiledFrom, type ParsedForm } from './parsed-layouts.js'

type ParsedKey = { pubkey: string; signer: boolean; writable: boolean; source: 'transaction' | 'lookupTable' }
type Compiled = JsonTransaction['transaction']['message']['instructions'][number]
type Instruction = { programId: string; stackHeight: number | null } & (
  | { accounts: string[]; data: string; parsed?: undefined }
  | { parsed: ParsedForm['parsed'] }
)
export type ParsedTransaction = {
  version: number | 'legacy'
  transaction: {
    signatures: string[]
    message: {
      accountKeys: ParsedKey[]
      recentBlockhash: string
      instructions: Instruction[]
      addressTableLookups?: JsonTransaction['transaction']['message']['addressTableLookups']
    }
  }
  meta: Record<string, unknown> & { innerInstructions: { index: number; instructions: Instruction[] }[] }
}

export function fromParsed({ version, transaction, meta }: ParsedTransaction): JsonTransaction {
  const { accountKeys: keys, recentBlockhash, instructions, addressTableLookups = [] } = transaction.message
  const own = keys.filter(({ source }) => source === 'transaction')
  const loaded = keys.filter(({ source }) => source === 'lookupTable')
  const places = new Map(keys.map(({ pubkey }, place) => [pubkey, place]))
  const compile = (each: Instruction) => compiled(each, places)
  return {
    version,
    transaction: {
      signatures: transaction.signatures,
      message: {
        header: {
          numRequiredSignatures: own.filter(({ signer }) => signer).length,
          numReadonlySignedAccounts: own.filter(({ signer, writable }) => signer && !writable).length,
          numReadonlyUnsignedAccounts: own.filter(({ signer, writable }) => !signer && !writable).length,
        },
        accountKeys: own.map(({ pubkey }) => pubkey),
        recentBlockhash,
        instructions: instructions.map(compile),
        addressTableLookups,
      },
    },
    meta: {
      ...meta,
      innerInstructions: meta.innerInstructions.map(({ index, instructions: inner }) => ({
        index,
        instructions: inner.map(compile),
      })),
      loadedAddresses: {
        writable: loaded.filter(({ writable }) => writable).map(({ pubkey }) => pubkey),
        readonly: loaded.filter(({ writable }) => !writable).map(({ pubkey }) => pubkey),
      },
    },
  }
}

function compiled(instruction: Instruction, places: ReadonlyMap<string, number>): Compiled {
  const { programId, stackHeight } = instruction
  const placeOf = (key: string): number => {
    const place = places.get(key)
    if (place === undefined) throw new Error(`${key} is no account of the transaction`)
    return place
  }
  const form = instruction.parsed === undefined ? instruction : compiledFrom(programId, instruction.parsed)
  const data = typeof form.data === 'string' ? form.data : encodeBase58(form.data)
  return { programIdIndex: placeOf(programId), accounts: form.accounts.map(placeOf), data, stackHeight }
}
