/** A market as it is now, apart from the one that goes on: tokens and pools that several parts share stay shared. */
import type { Launch, MarketState, Pool, Token } from './market-state.js'

export function copyState(state: MarketState): MarketState {
  const tokens = new Map<Token, Token>()
  const pools = new Map<Pool, Pool>()

  function token(old: Token): Token {
    const known = tokens.get(old)
    if (known !== undefined) return known
    const copy = { ...old, balances: new Map(old.balances) }
    tokens.set(old, copy)
    return copy
  }

  function pool(old: Pool): Pool {
    const known = pools.get(old)
    if (known !== undefined) return known
    const curve = old.curve === null ? null : { ...old.curve }
    const copy: Pool = { ...old, base: token(old.base), quote: token(old.quote), curve, siblings: [] }
    pools.set(old, copy)
    copy.siblings = old.siblings.map(pool)
    return copy
  }

  const launch = (old: Launch): Launch => ({ ...old, token: token(old.token), pool: pool(old.pool) })

  return {
    ...state,
    head: { ...state.head },
    recent: [...state.recent],
    wallets: [...state.wallets],
    native: token(state.native),
    anchor: token(state.anchor),
    tokens: state.tokens.map(token),
    pools: state.pools.map(pool),
    weights: [...state.weights],
    launches: state.launches.map(launch),
    graduates: state.graduates.map(pool),
    rivals: { ...state.rivals, first: pool(state.rivals.first), second: pool(state.rivals.second) },
    hollow: pool(state.hollow),
    guest: state.guest === null ? null : pool(state.guest),
    leaders: state.leaders.map(pool),
    fork: state.fork === null ? null : { ...state.fork, stays: copyState(state.fork.stays) },
  }
}
