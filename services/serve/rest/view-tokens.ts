import type { LaunchWallets, ListedRates } from '../history/launch-wallets.js'
import type { TokenState } from '../memory/served-chain.js'
import type { Market } from '../views/market-facts.js'
import { tokenView } from '../views/token-view.js'

type Listed = { market: Market; token: TokenState }
type Viewed = ReturnType<typeof tokenView>

/** The views of tokens with the rates of their first buyers. A token that a reorg removes meanwhile is left out. */
export async function viewTokens<Item extends Listed, View>(
  launches: Pick<LaunchWallets, 'rates'>,
  items: readonly Item[],
  viewOf: (view: Viewed, token: TokenState, item: Item) => View,
): Promise<{ views: View[]; isProvisional: boolean }> {
  const byMarket = new Map<Market, string[]>()
  for (const { market, token } of items) {
    const tokens = byMarket.get(market)
    if (tokens === undefined) byMarket.set(market, [token.token])
    else tokens.push(token.token)
  }
  // All chains at once.
  const asked = [...byMarket].map(([market, tokens]) => ({ market, rates: launches.rates(market.state, tokens) }))
  const rates = new Map<Market, ListedRates>()
  for (const one of asked) rates.set(one.market, one.rates instanceof Promise ? await one.rates : one.rates)
  const views: View[] = []
  for (const item of items) {
    const { market } = item
    const token = market.state.tokens.get(item.token.token)
    const own = rates.get(market)
    if (token !== undefined && own !== undefined)
      views.push(viewOf(tokenView(market, token, own.of(token.token)), token, item))
  }
  return { views, isProvisional: [...rates.values()].some(({ isComplete }) => !isComplete) }
}
