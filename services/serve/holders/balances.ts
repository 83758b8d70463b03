import type { Store } from '../../core/store/port.js'

export type Balance = { holder: string; balanceRaw: string }

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
  if (holders.length === 0) return new Map()
  const rows = await store.query<Balance>(
    `SELECT holder, balance AS balanceRaw FROM holder_rows FINAL
     WHERE chain = {chain:String} AND token = {token:String} AND holder IN {holders:Array(String)}`,
    { chain, token, holders },
  )
  return new Map(rows.map(({ holder, balanceRaw }) => [holder, balanceRaw]))
}
