/** USD prices of tokens. Stables and native: from their reference pools, which are listed and filtered each time. */
import { type Book, isGood, type Pool, tokenOf } from './book.js'

export const DEEP_USD = 10_000
const STALE_AFTER_S = 3600

export function rankOf(book: Book, token: string): number {
  const { anchor, stables, native, majors } = book.facts
  if (token === anchor) return 4
  if (stables.includes(token)) return 3
  if (token === native) return 2
  return majors.includes(token) ? 1 : 0
}

export const isReferencePriced = (book: Book, token: string): boolean => [2, 3].includes(rankOf(book, token))

export function usdPrice(book: Book, token: string): number {
  if (rankOf(book, token) === 4) return 1
  if (!isReferencePriced(book, token)) return book.tokens.get(token)?.usd ?? Number.NaN
  return book.currentReference.get(token) ?? (rankOf(book, token) === 3 ? 1 : Number.NaN)
}

export function nativeUsd(book: Book): number {
  return book.facts.native === undefined ? Number.NaN : usdPrice(book, book.facts.native)
}

/** A token's price in the native coin. Only tokens priced by a main pair have their own; others derive from USD. */
export function nativePrice(book: Book, token: string): number {
  if (token === book.facts.native) return 1
  return rankOf(book, token) >= 3 ? usdPrice(book, token) / nativeUsd(book) : tokenOf(book, token).native
}

export function findReferencePrices(book: Book): void {
  const { stables, native } = book.facts
  for (const token of stables) findReferencePrice(book, token)
  if (native !== undefined) findReferencePrice(book, native)
}

export function findReferencePrice(book: Book, token: string): void {
  if (!isReferencePriced(book, token)) return
  const rank = rankOf(book, token)
  const referencePools = [...book.pools.values()].filter(
    (pool) => pool.target === token && rankOf(book, pool.quote) > rank,
  )
  const alive = referencePools.filter(
    (pool) =>
      !Number.isNaN(pool.usd) &&
      pool.tvl >= DEEP_USD &&
      pool.trades.findLast((trade) => trade.time > book.now - STALE_AFTER_S) !== undefined,
  )
  if (alive.length > 0) {
    const price = alive.length >= 3 ? median(alive.map((pool) => pool.usd)) : deepest(alive).usd
    book.foundReference.set(token, price)
    book.currentReference.set(token, price)
    book.referencePath.set(token, alive.length >= 3 ? medianPath(alive) : `deepest:${deepest(alive).pool}`)
    return
  }
  const found = book.foundReference.get(token)
  if (found !== undefined) {
    book.currentReference.set(token, found)
    book.referencePath.set(token, `last:${book.referencePath.get(token)?.split(':')[1]}`)
  } else if (rank === 3) book.currentReference.set(token, 1)
  else {
    const names = new Set(referencePools.map(({ pool }) => pool))
    const last = book.trades.findLast((trade) => names.has(trade.pair) && isGood(trade))
    if (last === undefined) return
    book.currentReference.set(token, last.price_usd)
    book.referencePath.set(token, `any:${last.pair}`)
  }
}

/** How a token got its price, and the pools it came from. */
export function pricePath(book: Book, token: string): string {
  if (Number.isNaN(usdPrice(book, token))) return 'unknown'
  if (rankOf(book, token) === 4) return 'anchor'
  if (isReferencePriced(book, token)) return book.referencePath.get(token) ?? 'peg'
  const { pricePool, mainPair } = tokenOf(book, token)
  return `${mainPair?.pool === pricePool ? 'main' : 'held'}:${pricePool}`
}

/** Equal prices: in order of first appearance. */
function medianPath(pools: readonly Pool[]): string {
  const sorted = pools.toSorted((a, b) => a.usd - b.usd)
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1)
  return `median:${middle.map(({ pool }) => pool).join(',')}`
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return lower === upper ? upper : (lower + upper) / 2
}

/** Pools are in order of first appearance, so the first of equals wins. */
function deepest(pools: Pool[]): Pool {
  return pools.reduce((best, pool) => (pool.tvl > best.tvl ? pool : best))
}
