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
const NAMES_PER_QUERY = 600

/** Wallets of a token, and the pairs whose target it is. */
export type TradersOf = { pairs: readonly string[]; wallets: readonly string[] }

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
    const [rows] = await sumTrades(store, chain, [{ pairs: pairs.slice(at, at + PAIRS_PER_QUERY), wallets }])
    for (const [wallet, row] of rows ?? []) found.set(wallet, joined(found.get(wallet), row))
  }
  return found
}

/** The same of several tokens, in few queries. */
export async function tradesOfTraders(
  store: Queries,
  chain: string,
  asked: readonly TradersOf[],
): Promise<ReadonlyMap<string, WalletTrades>[]> {
  const found: ReadonlyMap<string, WalletTrades>[] = []
  for (let at = 0; at < asked.length; ) {
    const { pairs = [], wallets = [] } = asked[at] ?? {}
    let end = at + 1
    for (let size = sizeOf(asked[at]); end < asked.length; end += 1) {
      size += sizeOf(asked[end])
      if (size > NAMES_PER_QUERY) break
    }
    if (end > at + 1) found.push(...(await sumTrades(store, chain, asked.slice(at, end))))
    else found.push(await tradesOfWallets(store, chain, pairs, wallets))
    at = end
  }
  return found
}

const sizeOf = (asked: TradersOf | undefined): number =>
  asked === undefined ? 0 : asked.pairs.length + asked.wallets.length

/** The engine reads rows in an order that changes when parts are merged. These sums do not depend on it, so they can be kept. */
const rawSum = (column: string, condition: string) => `toFloat64(sumIf(toUInt256OrZero(${column}), ${condition}))`
const usdSum = (condition: string) => `arraySum(arraySort(groupArrayIf(amount_usd, ${condition})))`
const PRICED = 'NOT isNaN(amount_usd)'

/** By token, then by wallet. One statement for all of them: a row is read for the token whose pair it is in. */
async function sumTrades(
  store: Queries,
  chain: string,
  asked: readonly TradersOf[],
): Promise<Map<string, WalletTrades>[]> {
  const found = asked.map(() => new Map<string, WalletTrades>())
  const wanted = asked.map(({ wallets }) => new Set(wallets))
  const pairs = asked.flatMap((one) => one.pairs)
  const wallets = [...new Set(asked.flatMap((one) => one.wallets))]
  if (pairs.length === 0 || wallets.length === 0) return found
  const owners = asked.flatMap((one, owner) => one.pairs.map(() => owner))
  const owner = asked.length === 1 ? '0' : 'transform(pair, {pairs:Array(String)}, {owners:Array(UInt32)}, 0)'
  const rows = await store.query<{ owner: number; wallet: string } & Record<keyof WalletTrades, number | string>>(
    `SELECT toUInt32(${owner}) AS owner, wallet, countIf(sell = 0) AS buys, countIf(sell = 1) AS sells,
       ${rawSum('amount_out', 'sell = 0')} AS boughtRaw, ${rawSum('amount_in', 'sell = 1')} AS soldRaw,
       ${rawSum('amount_out', `sell = 0 AND ${PRICED}`)} AS pricedBoughtRaw,
       ${rawSum('amount_in', `sell = 1 AND ${PRICED}`)} AS pricedSoldRaw,
       ${usdSum(`sell = 0 AND ${PRICED}`)} AS buyVolumeUsd, ${usdSum(`sell = 1 AND ${PRICED}`)} AS sellVolumeUsd,
       maxIf(amount_usd, sell = 0 AND ${PRICED}) AS maxBuyUsd, maxIf(amount_usd, sell = 1 AND ${PRICED}) AS maxSellUsd,
       toUInt32(min(time)) AS firstAtS, toUInt32(max(time)) AS lastAtS
     FROM trade_rows FINAL
     WHERE chain = {chain:String} AND pair IN {pairs:Array(String)} AND wallet IN {wallets:Array(String)}
     GROUP BY owner, wallet`,
    { chain, pairs, wallets, ...(asked.length === 1 ? {} : { owners }) },
  )
  for (const { owner: at, wallet, ...row } of rows) {
    // Another token's wallet may have traded this one.
    if (wanted[Number(at)]?.has(wallet)) found[Number(at)]?.set(wallet, numbersOf(row))
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
