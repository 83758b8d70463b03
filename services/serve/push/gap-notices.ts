import { cursorAt, type Place } from './cursor.js'
import type { Subscription } from './hub.js'
import { subscriptionNotice } from './notices.js'
import { WHOLE_CHAIN } from './params.js'
import type { ParseContext, Refill } from './topic.js'

/** With more pairs per token, refilling them one by one is not practical. */
const MAX_PAIRS = 100

/** The history operation of one pair; a whole chain has none. */
export function pairRefills(
  operation: '/v2/txs/swap' | '/v2/txs/liq' | '/v2/klines/pair',
  pair: string,
  chain: string,
  query: Record<string, string> = {},
): (Refill | null)[] {
  if (pair === WHOLE_CHAIN) return [null]
  return [{ path: `${operation}/${pair}-${chain}`, query, isRanged: true }]
}

/** The swaps of each pair of the token, whichever side it is on. */
export function tokenPairRefills({ chains }: ParseContext, token: string, chain: string): (Refill | null)[] {
  const state = chains.market(chain)?.state
  const pairs = state === undefined ? [] : [...state.targetPairs.of(token), ...state.quotePairs.of(token)]
  if (pairs.length === 0 || pairs.length > MAX_PAIRS) return [null]
  return pairs.flatMap((pair) => pairRefills('/v2/txs/swap', pair, chain))
}

/** A price subscriber only needs the current state of the pair or token. */
export function priceRefill({ chains }: ParseContext, address: string, chain: string): Refill | null {
  if (address === WHOLE_CHAIN) return null
  const isPair = chains.market(chain)?.state.pairs.has(address) ?? false
  return { path: `/v2/${isPair ? 'pairs' : 'tokens'}/${address}-${chain}`, query: {}, isRanged: false }
}

/** The path with its time range; unknown bounds are omitted. */
export function refillPath(refill: Refill, fromS: number | undefined, toS: number | undefined): string {
  const range = refill.isRanged
    ? {
        ...(fromS === undefined ? {} : { from_time: String(fromS) }),
        ...(toS === undefined ? {} : { to_time: String(toS) }),
      }
    : {}
  const query = new URLSearchParams({ ...refill.query, ...range }).toString()
  return query === '' ? refill.path : `${refill.path}?${query}`
}

export type MissingRange = { from: Place; to: Place; fromS: number | undefined; toS: number | undefined }

/** Tells a subscription which pushes it missed and where to read them: one notice per subscribed item. */
export function gapNotices({ id, spec }: Subscription, { from, to, fromS, toS }: MissingRange): string[] {
  return spec.refills(to.chain).map((refill) =>
    subscriptionNotice({
      topic: 'gap',
      subscription: id,
      chain: to.chain,
      from: cursorAt(from),
      to: cursorAt(to),
      refill: refill === null ? null : refillPath(refill, fromS, toS),
    }),
  )
}
