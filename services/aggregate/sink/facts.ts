/** The fold's own facts, for rows that carry them. */
import { pairInfo, tokenInfo } from '../fold/update-entries.js'
import type { ChainState } from '../state/fold-state.js'
import { PAIR } from '../state/pairs.js'
import { TOKEN } from '../state/tokens.js'
import type { Facts } from './encode-rows.js'

export function chainFactsFor(state: ChainState): Facts {
  const decimals = (token: number): number | null => {
    const known = state.tokens.rows.get(token, TOKEN.decimals)
    return Number.isNaN(known) ? null : known
  }
  return {
    finalNowS: () => state.finalNowS,
    pair(address) {
      const id = state.pairs.find(address)
      if (id === undefined) return undefined
      const { rows } = state.pairs
      return {
        info: pairInfo(state, id),
        decimals0: decimals(rows.get(id, PAIR.token0)),
        decimals1: decimals(rows.get(id, PAIR.token1)),
      }
    },
    token(address) {
      const id = state.tokens.find(address)
      return id === undefined ? undefined : tokenInfo(state, id)
    },
  }
}
