/** Values read from the chain before blocks are decoded. The decoder makes no requests: what is not here is unknown. */
import type { TokenFacts } from '../erc20.js'
import type { Refusal } from '../protocol.js'
import type { Venue, VenueState } from '../venue.js'

export type Prefetched = {
  /** Venues whose creation was not seen, with their state as of the parent of the block where they first appear. */
  venues: Map<string, { venue: Venue; state: VenueState } | Refusal>
  /** As of the block where they first appear. */
  tokens: Map<string, TokenFacts>
  /** By `atBlock`: at that block's end. */
  reserves: Map<string, readonly bigint[] | null>
  supplies: Map<string, { total: bigint | null; atZero: bigint | null }>
  /** By `atBlock`: supplies of pools' shares at that block's end. */
  shares: Map<string, bigint | null>
  /** By `atBlock` of `ofHolder`: the balance before that block. */
  balances: Map<string, bigint | null>
}

export function nothingPrefetched(): Prefetched {
  return {
    ...{ venues: new Map(), tokens: new Map(), reserves: new Map() },
    ...{ supplies: new Map(), shares: new Map(), balances: new Map() },
  }
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
