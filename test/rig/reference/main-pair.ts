/** Chooses the main pair of a token. */
import { type Book, type Pool, tokenOf } from './book.js'
import { DEEP_USD, rankOf } from './prices.js'
import { takePriceOfMainPair } from './swap.js'
import { isInWindow, sum } from './windows.js'

const MAX_HOPS = 3
const MAX_ROUNDS = 4
const HYSTERESIS = 1.1

export function rerankMainPairs(book: Book, tokens: readonly string[]): void {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const changed = tokens.filter((token) => rerank(book, token))
    if (changed.length === 0) return
  }
}

export function setMainPair(book: Book, token: string, pool: Pool | null): boolean {
  const state = tokenOf(book, token)
  if (state.mainPair === pool) return false
  const change = { block: book.block, token, old_pair: state.mainPair?.pool ?? null, new_pair: pool?.pool ?? null }
  book.mainPairSteps.push(change)
  state.mainPair = pool
  if (pool !== null) takePriceOfMainPair(state, pool)
  return true
}

function rerank(book: Book, token: string): boolean {
  const qualified = [...book.pools.values()].filter((pool) => pool.target === token && qualifies(book, pool))
  if (qualified.length < 2) return setMainPair(book, token, qualified[0] ?? null)
  const measured = qualified.map((pool) => ({ pool, ...measure(book, pool) }))
  // The sort is stable and pools are in order of first appearance, which breaks ties.
  const best = measured.toSorted((a, b) => Number(b.deep) - Number(a.deep) || b.value - a.value)[0]
  const current = measured.find(({ pool }) => pool === tokenOf(book, token).mainPair)
  if (best === undefined || current === undefined) return setMainPair(book, token, best?.pool ?? null)
  const overtakes = best.deep === current.deep ? best.value > HYSTERESIS * current.value : best.deep
  return overtakes ? setMainPair(book, token, best.pool) : false
}

function measure(book: Book, pool: Pool): { deep: boolean; value: number } {
  return pool.tvl >= DEEP_USD ? { deep: true, value: pool.tvl } : { deep: false, value: volume24h(book, pool) }
}

function volume24h(book: Book, pool: Pool): number {
  return sum(pool.trades.filter((trade) => isInWindow('24h', trade.time, book.now)).map((trade) => trade.amount_usd))
}

export function qualifies(book: Book, pool: Pool): boolean {
  const { curvePools, graduatedTo } = tokenOf(book, pool.target)
  if (curvePools.has(pool.pool) && graduatedTo !== null && graduatedTo !== pool.pool) return false
  let at = pool.quote
  for (let hops = 0; rankOf(book, at) === 0; hops++) {
    const main = book.tokens.get(at)?.mainPair
    if (!main || hops === MAX_HOPS || main.quote === pool.target) return false
    at = main.quote
  }
  return true
}
