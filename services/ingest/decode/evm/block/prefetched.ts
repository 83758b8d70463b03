/** What was read from the chain for blocks about to be decoded. The decoder asks nobody: what is not here is not known. */
import type { TokenFacts } from '../erc20.js'
import type { Refusal } from '../protocol.js'
import type { Venue, VenueState } from '../venue.js'

export type Prefetched = {
  /** Met in mid-life: their state is that of the block before the one that first tells of them. */
  venues: Map<string, { venue: Venue; state: VenueState } | Refusal>
  /** As of the block that first tells of them. */
  tokens: Map<string, TokenFacts>
  /** By `atBlock`: at that block's end. */
  reserves: Map<string, readonly bigint[] | null>
  supplies: Map<string, { total: bigint | null; atZero: bigint | null }>
  /** By `atBlock` of `ofHolder`: before that block, which tells of them. */
  balances: Map<string, bigint | null>
}

export function nothingPrefetched(): Prefetched {
  return { venues: new Map(), tokens: new Map(), reserves: new Map(), supplies: new Map(), balances: new Map() }
}

export const atBlock = (number: number, id: string): string => `${number}/${id}`
export const ofHolder = (token: string, holder: string): string => `${token}/${holder}`

/** What could not be read stays unknown. */
export function tokenEvent(token: string, prefetched: Prefetched) {
  const facts = prefetched.tokens.get(token)
  return {
    type: 'token' as const,
    token,
    name: facts?.name ?? null,
    symbol: facts?.symbol ?? null,
    decimals: facts?.decimals ?? null,
    total_supply: facts?.totalSupply?.toString() ?? null,
  }
}
