import type { Queries } from './query-lanes.js'

/** What a wallet bought and sold of a token, in raw amounts and USD. Unpriced trades have an amount and no volume. */
export type WalletTrades = {
  buys: number
  sells: number
  boughtRaw: number
  soldRaw: number
  /** The part of the amounts whose USD volume is known. */
  pricedBoughtRaw: number
  pricedSoldRaw: number
  buyVolumeUsd: number
  sellVolumeUsd: number
  /** The largest single values. */
  maxBuyUsd: number
  maxSellUsd: number
  firstAtS: number
  lastAtS: number
}

export const NO_TRADES: WalletTrades = {
  ...{ buys: 0, sells: 0, boughtRaw: 0, soldRaw: 0, pricedBoughtRaw: 0, pricedSoldRaw: 0 },
  ...{ buyVolumeUsd: 0, sellVolumeUsd: 0, maxBuyUsd: 0, maxSellUsd: 0, firstAtS: 0, lastAtS: 0 },
}

/** Both lists are part of the URL when the store is a server. */
const PAIRS_PER_QUERY = 200

/** Sums the trades of wallets in pairs whose target is the token; wallets without trades are absent. */
export async function tradesOfWallets(
  store: Queries,
  chain: string,
  pairs: readonly string[],
  wallets: readonly string[],
): Promise<Map<string, WalletTrades>> {
  const found = new Map<string, WalletTrades>()
  if (wallets.length === 0) return found
  for (let at = 0; at < pairs.length; at += PAIRS_PER_QUERY) {
    const rows = await store.query<{ wallet: string } & Record<keyof WalletTrades, number | string>>(
      `SELECT wallet, countIf(sell = 0) AS buys, countIf(sell = 1) AS sells,
         sumIf(toFloat64OrZero(amount_out), sell = 0) AS boughtRaw, sumIf(toFloat64OrZero(amount_in), sell = 1) AS soldRaw,
         sumIf(toFloat64OrZero(amount_out), sell = 0 AND NOT isNaN(amount_usd)) AS pricedBoughtRaw,
         sumIf(toFloat64OrZero(amount_in), sell = 1 AND NOT isNaN(amount_usd)) AS pricedSoldRaw,
         sumIf(amount_usd, sell = 0 AND NOT isNaN(amount_usd)) AS buyVolumeUsd,
         sumIf(amount_usd, sell = 1 AND NOT isNaN(amount_usd)) AS sellVolumeUsd,
         maxIf(amount_usd, sell = 0 AND NOT isNaN(amount_usd)) AS maxBuyUsd,
         maxIf(amount_usd, sell = 1 AND NOT isNaN(amount_usd)) AS maxSellUsd,
         toUInt32(min(time)) AS firstAtS, toUInt32(max(time)) AS lastAtS
       FROM trade_rows FINAL
       WHERE chain = {chain:String} AND pair IN {pairs:Array(String)} AND wallet IN {wallets:Array(String)}
       GROUP BY wallet`,
      { chain, pairs: pairs.slice(at, at + PAIRS_PER_QUERY), wallets },
    )
    for (const { wallet, ...row } of rows) found.set(wallet, joined(found.get(wallet), numbersOf(row)))
  }
  return found
}

function numbersOf(row: Record<keyof WalletTrades, number | string>): WalletTrades {
  const numbers = Object.keys(NO_TRADES).map((name) => [name, Number(row[name as keyof WalletTrades])])
  return Object.fromEntries(numbers) as WalletTrades
}

function joined(a: WalletTrades | undefined, b: WalletTrades): WalletTrades {
  if (a === undefined) return b
  const sums = Object.keys(NO_TRADES).map((name) => [
    name,
    a[name as keyof WalletTrades] + b[name as keyof WalletTrades],
  ])
  const largest = { maxBuyUsd: Math.max(a.maxBuyUsd, b.maxBuyUsd), maxSellUsd: Math.max(a.maxSellUsd, b.maxSellUsd) }
  const times = { firstAtS: Math.min(a.firstAtS, b.firstAtS), lastAtS: Math.max(a.lastAtS, b.lastAtS) }
  return { ...(Object.fromEntries(sums) as WalletTrades), ...largest, ...times }
}

export type Balance = { holder: string; balanceRaw: string }

/** The largest holders; equal balances by address. Raw integers have no leading zeros, so longer means larger. */
export async function largestBalances(store: Queries, chain: string, token: string, limit: number): Promise<Balance[]> {
  return store.query<Balance>(
    `SELECT holder, balance AS balanceRaw FROM holder_rows FINAL
     WHERE chain = {chain:String} AND token = {token:String} AND balance != '0' AND NOT startsWith(balance, '-')
     ORDER BY length(balance) DESC, balance DESC, holder LIMIT {limit:UInt32}`,
    { chain, token, limit },
  )
}

/** Raw balances above 0 of a holder, by token. */
export async function balancesHeldBy(store: Queries, chain: string, holder: string): Promise<Map<string, string>> {
  const rows = await store.query<{ token: string; balanceRaw: string }>(
    `SELECT token, balance AS balanceRaw FROM holder_rows FINAL
     WHERE chain = {chain:String} AND holder = {holder:String} AND balance != '0' AND NOT startsWith(balance, '-')`,
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
