/** Calls of Meteora's DLMM: instructions recorded on mainnet with their account names, and the events they emit. */
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { encodeBase58 } from '../../../../services/ingest/decode/solana/keys/base58.js'
import { recordingPath } from '../../../rig/recordings.js'
import { type Balance, borsh, eventData, hex, key } from './anchor-calls.js'
import { sharedJson } from './real-transactions.js'

export const DLMM = 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo'
const RECORDED = 'carbon/meteora-dlmm-decoder'

/** An instruction recorded on mainnet, with its account names. */
export function recorded(name: string): { accounts: string[]; data: Uint8Array; at(label: string): string } {
  const { accounts, data } = sharedJson(`${RECORDED}/${name}_ix.json`) as {
    accounts: { pubkey: string; label: string }[]
    data: string
  }
  return {
    accounts: accounts.map(({ pubkey }) => pubkey),
    data: hex(data),
    at: (label) => accounts.find((account) => account.label === label)?.pubkey ?? `no ${label}`,
  }
}

export function recordedNames(start: string): string[] {
  return readdirSync(recordingPath(`solana/${RECORDED}`))
    .filter((file) => file.startsWith(start) && file.endsWith('_ix.json'))
    .map((file) => file.replace('_ix.json', ''))
}

export const swapEvent = (pool: string, from: string, isForY: boolean, amountIn: bigint, amountOut: bigint) =>
  eventData(
    'Swap',
    ...[borsh.key(pool), borsh.key(from), borsh.i32(-511), borsh.i32(-510)],
    ...[borsh.u64(amountIn), borsh.u64(amountOut), borsh.bool(isForY)],
    ...[borsh.u64(7n), borsh.u64(1n), borsh.u128(2_000_000n), borsh.u64(0n)],
  )

export const liquidityEvent = (name: string, pool: string, from: string, x: bigint, y: bigint) =>
  eventData(
    name,
    borsh.key(pool),
    borsh.key(from),
    borsh.key(key('position')),
    borsh.u64(x),
    borsh.u64(y),
    borsh.i32(3),
  )

export const poolOf = (pool: string, token0: string, token1: string) => ({
  pool,
  amm: 'meteora',
  token0,
  token1,
  fee: null,
  creator: null,
})

/** The pair's reserves as token balances of the transaction. */
export function reserves(
  pool: string,
  x: [string, string, bigint, bigint],
  y: [string, string, bigint, bigint],
): Balance[] {
  return [x, y].map(([account, mint, before, after]) => ({ account, mint, owner: pool, before, after }))
}

/** A pair's reserve address. Real ones use the first bump that is off the curve; here the last one is enough. */
export function derived(pool: string, mint: string): string {
  const seeds = [borsh.key(pool), borsh.key(mint), borsh.u8(255), borsh.key(DLMM), Buffer.from('ProgramDerivedAddress')]
  return encodeBase58(createHash('sha256').update(Buffer.concat(seeds)).digest())
}
