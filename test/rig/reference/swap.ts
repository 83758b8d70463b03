/** Values one swap: prices, amounts, flags, and the pool's state after it. */
import type { SwapEvent } from '../../../services/core/domain/records.js'
import { midOfReserves, midOfSqrtPrice, toAmount } from './amounts.js'
import {
  type Book,
  decimalsOf,
  FLAG_DUST,
  FLAG_OUTLIER,
  FLAG_UNPRICED,
  isGood,
  type Pool,
  type ReferenceTrade,
  sidesOf,
  type Token,
  tokenOf,
} from './book.js'
import { findReferencePrice, nativeUsd, pricePath, usdPrice } from './prices.js'

export function applySwap(book: Book, pool: Pool, swap: SwapEvent, id: string): void {
  const trade = valueSwap(book, pool, swap, id)
  book.trades.push(trade)
  pool.trades.push(trade)
  takeReserves(pool, swap.reserve0, swap.reserve1)
  if (swap.sqrt_price !== null) pool.knownSqrtPrice = swap.sqrt_price
  if (isGood(trade)) takeGoodPrice(book, pool, trade)
  findReferencePrice(book, pool.target)
}

function valueSwap(book: Book, pool: Pool, swap: SwapEvent, id: string): ReferenceTrade {
  const { native } = book.facts
  const sell = swap.token_in === pool.target
  const [targetRaw, quoteRaw] = sell ? [swap.amount_in, swap.amount_out] : [swap.amount_out, swap.amount_in]
  const targetAmount = toAmount(targetRaw, decimalsOf(book, pool.target))
  const quoteAmount = toAmount(quoteRaw, decimalsOf(book, pool.quote))
  const quoteUsd = usdPrice(book, pool.quote)
  const nativeUsdBefore = nativeUsd(book)
  const unpriced =
    [quoteUsd, targetAmount, quoteAmount].some(Number.isNaN) || BigInt(targetRaw) === 0n || BigInt(quoteRaw) === 0n

  const known = (value: number): number => (unpriced ? Number.NaN : value)
  const priceQuote = known(quoteAmount / targetAmount)
  const priceUsd = known(priceQuote * quoteUsd)
  const amountUsd = known(quoteAmount * quoteUsd)
  let priceNative = known(priceUsd / nativeUsdBefore)
  let amountNative = known(amountUsd / nativeUsdBefore)
  if (pool.quote === native) {
    priceNative = priceQuote
    amountNative = quoteAmount
  } else if (pool.target === native) {
    priceNative = known(1)
    amountNative = targetAmount
  }

  const small = BigInt(targetRaw) < 1000n || BigInt(quoteRaw) < 1000n
  const dust = amountUsd < 0.01 || ((amountUsd < 1 || unpriced) && small)
  const outlier = isOff(priceQuote, midBefore(book, pool), 5) && isOff(priceQuote, midAfter(book, pool, swap), 2)
  return {
    pair: pool.pool,
    block_number: book.block,
    time: book.blockTime,
    tx_index: swap.tx_index,
    log_index: swap.log_index,
    sub: swap.sub,
    tx_hash: swap.tx_hash,
    id,
    tx_seq: pool.trades.length + 1,
    sell,
    sender: swap.sender,
    recipient: swap.recipient,
    wallet: swap.wallet,
    amount_in: swap.amount_in,
    amount_out: swap.amount_out,
    reserve0: swap.reserve0,
    reserve1: swap.reserve1,
    price_usd: priceUsd,
    price_native: priceNative,
    price_quote: priceQuote,
    quote_usd: quoteUsd,
    quote_native: pool.quote === native ? 1 : quoteUsd / nativeUsdBefore,
    amount_usd: amountUsd,
    amount_native: amountNative,
    flags: (dust ? FLAG_DUST : 0) + (outlier ? FLAG_OUTLIER : 0) + (unpriced ? FLAG_UNPRICED : 0),
    quote_path: pricePath(book, pool.quote),
    target_amount: targetAmount,
    quote_amount: quoteAmount,
  }
}

/** False for an unknown price or mid, since every comparison with NaN is false. */
const isOff = (price: number, mid: number, times: number): boolean => price > times * mid || mid > times * price

function midBefore(book: Book, pool: Pool): number {
  const sides = sidesOf(book, pool)
  if (pool.knownSqrtPrice !== null) return midOfSqrtPrice(pool.knownSqrtPrice, book.facts.family, sides)
  if (pool.knownReserves === null) return Number.NaN
  return midOfReserves(pool.knownReserves.reserve0, pool.knownReserves.reserve1, sides)
}

function midAfter(book: Book, pool: Pool, swap: SwapEvent): number {
  const sides = sidesOf(book, pool)
  if (swap.sqrt_price !== null) return midOfSqrtPrice(swap.sqrt_price, book.facts.family, sides)
  return midOfReserves(swap.reserve0, swap.reserve1, sides)
}

export function takeReserves(pool: Pool, reserve0: string | null, reserve1: string | null): void {
  pool.reserve0 = reserve0
  pool.reserve1 = reserve1
  if (reserve0 !== null && reserve1 !== null && BigInt(reserve0) > 0n && BigInt(reserve1) > 0n) {
    pool.knownReserves = { reserve0, reserve1 }
  }
}

/** Sets the pair's price, and its target's if this is the main pair. An unknown native price keeps the previous one. */
function takeGoodPrice(book: Book, pool: Pool, trade: ReferenceTrade): void {
  pool.usd = trade.price_usd
  pool.quotePrice = trade.price_quote
  if (!Number.isNaN(trade.price_native)) pool.native = trade.price_native
  const target = tokenOf(book, pool.target)
  if (target.mainPair === pool) takePriceOfMainPair(target, pool)
}

/** A main pair without a good price does not change the token's price. */
export function takePriceOfMainPair(token: Token, pool: Pool): void {
  if (!Number.isNaN(pool.usd)) {
    token.usd = pool.usd
    token.pricePool = pool.pool
  }
  if (!Number.isNaN(pool.native)) token.native = pool.native
}
