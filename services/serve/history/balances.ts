import { rowVersion } from '../../core/store/tables.js'
import type { Queries } from './query-lanes.js'

export type Balance = { holder: string; balanceRaw: string }

const HELD = "balance != '0' AND NOT startsWith(balance, '-')"

/** The largest holders; equal balances by address. Raw integers have no leading zeros, so longer means larger. */
export async function largestBalances(store: Queries, chain: string, token: string, limit: number): Promise<Balance[]> {
  return store.query<Balance>(
    `SELECT holder, balance AS balanceRaw FROM holder_rows FINAL
     WHERE chain = {chain:String} AND token = {token:String} AND ${HELD}
     ORDER BY length(balance) DESC, balance DESC, holder LIMIT {limit:UInt32}`,
    { chain, token, limit },
  )
}

/** The same; `hasOlder`: some are rows of an epoch before `epoch`, which are deleted without a trace. */
export async function largestBalancesOf(
  store: Queries,
  { chain, epoch }: { chain: string; epoch: number },
  token: string,
  limit: number,
): Promise<{ balances: Balance[]; hasOlder: boolean }> {
  const rows = await store.query<Balance & { isOlder: number }>(
    `SELECT holder, balance AS balanceRaw, toUInt8(version < {first:UInt64}) AS isOlder FROM holder_rows FINAL
     WHERE chain = {chain:String} AND token = {token:String} AND ${HELD}
     ORDER BY length(balance) DESC, balance DESC, holder LIMIT {limit:UInt32}`,
    { chain, token, limit, first: String(rowVersion(epoch, 0)) },
  )
  const balances = rows.map(({ holder, balanceRaw }) => ({ holder, balanceRaw }))
  return { balances, hasOlder: rows.some(({ isOlder }) => Number(isOlder) === 1) }
}

/**
 * Balances of tokens that changed after a version, as they are now, by token; `0`: none any more. Without FINAL, which would merge all
 * rows of a token: the newest row of a holder has the highest version.
 */
export async function changedBalances(
  store: Queries,
  chain: string,
  tokens: readonly string[],
  afterVersion: number,
): Promise<Map<string, Balance[]>> {
  const rows = await store.query<Balance & { token: string }>(
    `SELECT token, holder, argMax(if(is_deleted = 1, '0', balance), version) AS balanceRaw FROM holder_rows
     WHERE chain = {chain:String} AND token IN {tokens:Array(String)} AND version > {after:UInt64}
     GROUP BY token, holder`,
    { chain, tokens, after: String(afterVersion) },
  )
  const changed = new Map<string, Balance[]>(tokens.map((token) => [token, []]))
  for (const { token, holder, balanceRaw } of rows) changed.get(token)?.push({ holder, balanceRaw })
  return changed
}

/** Raw balances above 0 of a holder, by token. */
export async function balancesHeldBy(store: Queries, chain: string, holder: string): Promise<Map<string, string>> {
  const rows = await store.query<{ token: string; balanceRaw: string }>(
    `SELECT token, balance AS balanceRaw FROM holder_rows FINAL
     WHERE chain = {chain:String} AND holder = {holder:String} AND ${HELD}`,
    { chain, holder },
  )
  return new Map(rows.map(({ token, balanceRaw }) => [token, balanceRaw]))
}

/** Raw balances of a token by holder; unknown balances are absent. */
export async function balancesOf(
  store: Queries,
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
