import type { ChainFamily } from '../../core/domain/chains.js'
import type { Store } from '../../core/store/port.js'

/** Nobody has the keys of these. */
const BURN_ADDRESSES: Record<ChainFamily, readonly string[]> = {
  evm: [`0x${'0'.repeat(40)}`, `0x${'0'.repeat(36)}dead`],
  solana: ['1nc1nerator11111111111111111111111111111111'],
}

export type Balance = { holder: string; balanceRaw: string }

export const burnAddresses = (family: ChainFamily | undefined): readonly string[] => BURN_ADDRESSES[family ?? 'evm']

/** Who holds most of a token; equal balances by address. Raw integers have no leading zeros, so the longer is the larger. */
export async function largestBalances(store: Store, chain: string, token: string, limit: number): Promise<Balance[]> {
  return store.query<Balance>(
    `SELECT holder, balance AS balanceRaw FROM holder_rows FINAL
     WHERE chain = {chain:String} AND token = {token:String} AND balance != '0' AND NOT startsWith(balance, '-')
     ORDER BY length(balance) DESC, balance DESC, holder LIMIT {limit:UInt32}`,
    { chain, token, limit },
  )
}

/** Raw balances of a token by holder; one that was never told is absent. */
export async function balancesOf(
  store: Store,
  chain: string,
  token: string,
  holders: readonly string[],
): Promise<Map<string, string>> {
  const rows = await store.query<Balance>(
    `SELECT holder, balance AS balanceRaw FROM holder_rows FINAL
     WHERE chain = {chain:String} AND token = {token:String} AND holder IN {holders:Array(String)}`,
    { chain, token, holders },
  )
  return new Map(rows.map(({ holder, balanceRaw }) => [holder, balanceRaw]))
}

/** What burn addresses hold. Of a token without any known holder nobody told balances: unknown. */
export function burntRaw(
  token: { holders: number },
  family: ChainFamily | undefined,
  balances: ReadonlyMap<string, string>,
): string | null {
  if (token.holders === 0) return null
  const held = burnAddresses(family).map((address) => BigInt(balances.get(address) ?? '0'))
  return held.reduce((sum, raw) => (raw > 0n ? sum + raw : sum), 0n).toString()
}
