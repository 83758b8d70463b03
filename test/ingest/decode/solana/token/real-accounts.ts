/** Accounts from mainnet, byte for byte. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../../../../../schemas/avro.js'
import type { SolanaAccount } from '../../../../../services/ingest/sources/solana/slot-block.js'

type Kept = { accounts: Record<string, { owner: string; data: string }> }

export const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
export const USDC_METADATA = '5x38Kp4hvdomTCnCrAny4UtMUt5rQBdB6px2K1Ui45Wq'
export const PUMP_MINT = '77XowHgtgtocxziFhKEFfuQc9rtf2LFx5DGZ9stRpump'
export const KODAMA = '8RmyhyzqUGxBLpRsREiPn4VNAdV1zPcdjAhid2L4qToC'
export const KODAMA_METADATA = 'FtCkYkLhZPGuNo74ppS4DJMMmF51g3bTmjNTmFBv5qCn'

export function realAccounts(): Map<string, SolanaAccount> {
  const path = join(repositoryRoot(), 'test/fixtures/solana/token-accounts.json')
  const { accounts } = JSON.parse(readFileSync(path, 'utf8')) as Kept
  const entries = Object.entries(accounts).map(
    ([address, { owner, data }]) =>
      [address, { owner, lamports: 1n, data: Uint8Array.from(Buffer.from(data, 'base64')) }] as const,
  )
  return new Map(entries)
}

export function realAccount(address: string): SolanaAccount {
  const account = realAccounts().get(address)
  if (account === undefined) throw new Error(`${address} is not among the kept accounts`)
  return account
}
