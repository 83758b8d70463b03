import type { ServedChain } from '../memory/served-chain.js'
import { type Balance, balancesOf, largestBalances, tradesOfWallets, type WalletTrades } from './holders.js'
import type { Queries } from './query-lanes.js'

/** The most a request may ask for. */
export const MAX_HOLDERS = 100

/** What the store knows of a token's largest holders, largest first. */
export type TopHolders = { balances: readonly Balance[]; trades: ReadonlyMap<string, WalletTrades> }

/** Raw balances of the native coin by holder. */
export type NativeBalances = ReadonlyMap<string, string>

/** Stores what waits for its batch: balances are in the store alone. */
export type Flush = (chain: string) => Promise<void>

export async function readTopHolders(
  store: Queries,
  flush: Flush,
  state: ServedChain,
  token: string,
): Promise<TopHolders> {
  const { chain } = state
  const pairs = state.targetPairs.of(token)
  await flush(chain)
  const balances = await largestBalances(store, chain, token, MAX_HOLDERS)
  return { balances, trades: await tradesOfWallets(store, chain, pairs, walletsOf(balances)) }
}

export async function readNativeBalances(
  store: Queries,
  flush: Flush,
  chain: string,
  native: string,
  { balances }: TopHolders,
): Promise<NativeBalances> {
  await flush(chain)
  return balancesOf(store, chain, native, walletsOf(balances))
}

function walletsOf(balances: readonly Balance[]): string[] {
  return balances.map(({ holder }) => holder)
}
