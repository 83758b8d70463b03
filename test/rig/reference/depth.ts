/** TVL at a block's end, for the pools the block touched. */
import { toAmount } from './amounts.js'
import { type Book, decimalsOf, type Pool, tokenOf } from './book.js'
import { nativeUsd, rankOf, usdPrice } from './prices.js'

export function revalueDepth(book: Book, touched: readonly Pool[]): void {
  const seenOrder = [...book.pools.values()]
  const inOrder = touched
    .map((pool) => ({ pool, hops: hopsToRanked(book, pool.quote), seen: seenOrder.indexOf(pool) }))
    .sort((a, b) => (a.hops === b.hops ? a.seen - b.seen : a.hops - b.hops))
  for (const { pool } of inOrder) revalue(book, pool)
}

/** The number of main pairs from a token to a ranked one; Infinity if they end or form a loop. */
function hopsToRanked(book: Book, token: string): number {
  const met = new Set<string>()
  let at = token
  for (let hops = 0; ; hops++) {
    if (rankOf(book, at) > 0) return hops
    const main = book.tokens.get(at)?.mainPair
    if (!main || met.has(at)) return Number.POSITIVE_INFINITY
    met.add(at)
    at = main.quote
  }
}

function revalue(book: Book, pool: Pool): void {
  const [targetRaw, quoteRaw] = pool.targetIsToken0 ? [pool.reserve0, pool.reserve1] : [pool.reserve1, pool.reserve0]
  const targetAmount = toAmount(targetRaw, decimalsOf(book, pool.target))
  const quoteAmount = toAmount(quoteRaw, decimalsOf(book, pool.quote))
  const uncapped = quoteAmount * usdPrice(book, pool.quote)
  pool.liquidityUsd = uncapped
  pool.liquidityNative = pool.quote === book.facts.native ? quoteAmount : uncapped / nativeUsd(book)

  const cap =
    rankOf(book, pool.quote) > 0 ? Number.POSITIVE_INFINITY : (tokenOf(book, pool.quote).mainPair?.tvl ?? Number.NaN)
  const quoteSide = Math.min(uncapped, cap)
  // Adding 0 × the target's reserve would hide that an unknown reserve makes the sum unknown.
  if (targetRaw === null) pool.tvl = Number.NaN
  else if (Number.isNaN(pool.usd)) pool.tvl = 2 * quoteSide
  else pool.tvl = quoteSide + Math.min(targetAmount * pool.usd, quoteSide)
}

export function tokenTvl(book: Book, token: string): number {
  const known = [...book.pools.values()].filter((pool) => pool.target === token && !Number.isNaN(pool.tvl))
  return known.length === 0 ? Number.NaN : known.reduce((sum, pool) => sum + pool.tvl, 0)
}
