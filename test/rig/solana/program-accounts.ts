/** `getProgramAccounts` (solana.com/docs/rpc/http/getprogramaccounts). */
import { decodeBase58 } from '../../../services/ingest/decode/solana/keys/base58.js'
import type { SolanaAccount } from '../../../services/ingest/sources/solana/slot-block.js'
import { accountAnswer } from './accounts.js'
import { invalidParams } from './rpc-errors.js'

type Filter = { dataSize?: number; memcmp?: { offset: number; bytes: string } }

export type ListConfig = {
  encoding?: string
  withContext?: boolean
  dataSlice?: { offset: number; length: number }
  filters?: readonly Filter[]
}

export function listAccounts(
  accounts: ReadonlyMap<string, SolanaAccount>,
  programId: string,
  { encoding, dataSlice, filters = [] }: ListConfig,
) {
  if (encoding !== 'base64') throw invalidParams(`encoding ${encoding} is not served`)
  return [...accounts]
    .filter(([, account]) => account.owner === programId && filters.every((filter) => matches(account, filter)))
    .map(([pubkey, account]) => ({ pubkey, account: accountAnswer(account, dataSlice) }))
}

function matches({ data }: SolanaAccount, { dataSize, memcmp }: Filter): boolean {
  if (dataSize !== undefined) return data.length === dataSize
  if (memcmp === undefined) throw invalidParams('unknown filter')
  const bytes = decodeBase58(memcmp.bytes)
  return Buffer.from(data)
    .subarray(memcmp.offset, memcmp.offset + bytes.length)
    .equals(bytes)
}
