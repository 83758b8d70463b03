/** Tokens whose candles all come from one pair. */
import { isRetract } from '../reference/lines.js'
import type { ContractMarket } from './market.js'

/** Tokens with one pool in every fork, which prices them: their main pair cannot have changed. */
export function singlePairTokens(
  market: ContractMarket,
  chain: string,
  ranked: readonly string[],
): [token: string, pair: string][] {
  const pools = new Map<string, Set<string>>()
  for (const line of market.lines) {
    if (isRetract(line) || line.chain !== chain) continue
    for (const event of line.events) {
      if (event.type !== 'pool') continue
      for (const token of [event.token0, event.token1]) {
        pools.set(token, (pools.get(token) ?? new Set()).add(event.pool))
      }
    }
  }
  return market.pairs(chain).flatMap(({ pair, token0, token1, swaps }): [string, string][] => {
    const target = ranked.includes(token0) ? token1 : token0
    const quote = target === token0 ? token1 : token0
    const isSingle = pools.get(target)?.size === 1 && ranked.includes(quote) && !ranked.includes(target)
    return isSingle && swaps > 0 ? [[target, pair]] : []
  })
}
