import { type Balance, balancesOf, changedBalances } from './balances.js'
import { type TradersOf, tradesOfTraders, type WalletTrades } from './holder-trades.js'
import { createMergedReads } from './merged-reads.js'
import type { QueryLanes } from './query-lanes.js'

type OfToken = { chain: string; token: string }

/** What of the holders of several tokens is read in one query. */
export type HolderReads = {
  /** Balances that changed after a version, as they are now; `0`: none any more. */
  changes(asked: OfToken & { afterVersion: number }): Promise<readonly Balance[]>
  trades(asked: { chain: string } & TradersOf): Promise<ReadonlyMap<string, WalletTrades>>
  /** Raw balances by wallet; unknown ones are absent. */
  balances(asked: OfToken & { wallets: readonly string[] }): Promise<ReadonlyMap<string, string>>
}

/** Lists are part of the URL when the store is a server. */
const NAMES_PER_QUERY = 600

export function createHolderReads({ cheap, dear }: QueryLanes): HolderReads {
  const changes = createMergedReads<OfToken & { afterVersion: number }, readonly Balance[]>(
    ({ chain }) => chain,
    async (asked) => {
      const chain = asked[0]?.chain ?? ''
      // An earlier version only gives more rows, which are as the store has them now.
      const after = Math.min(...asked.map(({ afterVersion }) => afterVersion))
      const changed = new Map<string, Balance[]>()
      for (const tokens of chunksOf(asked.map(({ token }) => token)))
        for (const [token, balances] of await changedBalances(cheap, chain, tokens, after)) changed.set(token, balances)
      return asked.map(({ token }) => changed.get(token) ?? [])
    },
  )
  const trades = createMergedReads<{ chain: string } & TradersOf, ReadonlyMap<string, WalletTrades>>(
    ({ chain }) => chain,
    (asked) => tradesOfTraders(dear, asked[0]?.chain ?? '', asked),
  )
  const balances = createMergedReads<OfToken & { wallets: readonly string[] }, ReadonlyMap<string, string>>(
    ({ chain, token }) => `${chain} ${token}`,
    async (asked) => {
      const { chain = '', token = '' } = asked[0] ?? {}
      const known = new Map<string, string>()
      for (const wallets of chunksOf(asked.flatMap((one) => one.wallets)))
        for (const [wallet, raw] of await balancesOf(cheap, chain, token, wallets)) known.set(wallet, raw)
      return asked.map(({ wallets }) => new Map(wallets.flatMap((wallet) => entryOf(known, wallet))))
    },
  )
  const NO_TRADES = new Map<string, WalletTrades>()
  return {
    changes,
    trades: async (asked) => (asked.wallets.length === 0 || asked.pairs.length === 0 ? NO_TRADES : trades(asked)),
    balances,
  }
}

function entryOf(known: ReadonlyMap<string, string>, wallet: string): [string, string][] {
  const raw = known.get(wallet)
  return raw === undefined ? [] : [[wallet, raw]]
}

function chunksOf(names: readonly string[]): string[][] {
  const distinct = [...new Set(names)]
  const count = Math.ceil(distinct.length / NAMES_PER_QUERY)
  return Array.from({ length: count }, (_, at) => distinct.slice(at * NAMES_PER_QUERY, (at + 1) * NAMES_PER_QUERY))
}
