import type { ServedChain } from '../memory/served-chain.js'
import { type Balance, largestBalances } from './balances.js'
import { tradesOfWallets, type WalletTrades } from './holder-trades.js'
import type { QueryLanes } from './query-lanes.js'

/** The most a request may ask for. */
export const MAX_HOLDERS = 100

/** What the store knows of a token's largest holders, largest first. */
export type TopHolders = { balances: readonly Balance[]; trades: ReadonlyMap<string, WalletTrades> }

/** Raw balances of the native coin by holder. */
export type NativeBalances = ReadonlyMap<string, string>

/** Stores what waits for its batch: balances are in the store alone. */
export type Flush = (chain: string) => Promise<void>

export async function readTopHolders(
  { cheap, dear }: QueryLanes,
  flush: Flush,
  state: ServedChain,
  token: string,
): Promise<TopHolders> {
  const { chain } = state
  const pairs = state.targetPairs.of(token)
  await flush(chain)
  const balances = await largestBalances(cheap, chain, token, MAX_HOLDERS)
  return { balances, trades: await tradesOfWallets(dear, chain, pairs, walletsOf(balances)) }
}

export function walletsOf(balances: readonly Balance[]): string[] {
  return balances.map(({ holder }) => holder)
}
