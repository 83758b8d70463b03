/** Values a swap: prices, amounts and flags, by the pool's state and the quote's price before it. */
import {
  amountOf,
  DUST_USD,
  FLAG,
  isOff,
  powerOfTen,
  RANK,
  SMALL_RAW_DIGITS,
  SMALL_USD,
} from '../../core/domain/money.js'
import type { SwapEvent, Trade } from '../../core/domain/records.js'
import type { FoldState } from '../state/fold-state.js'
import { PAIR } from '../state/pairs.js'
import { PRICED_BY, TOKEN } from '../state/tokens.js'

const MID_BEFORE_FACTOR = 5
const MID_AFTER_FACTOR = 2
const SQRT_PRICE_ONE = { evm: 2 ** 96, solana: 2 ** 64 } as const

export type ValuedSwap = { trade: Trade; quoteAmount: number; targetAmount: number; sqrtRatio: number }

/** `ratioAfter`: of the reserves after it. */
export function valueSwap(
  state: FoldState,
  pair: number,
  event: SwapEvent,
  ratioAfter: number,
  id: string,
): ValuedSwap {
  const tokens = state.tokens.rows
  const { rows } = state.pairs
  const target = state.pairs.targetToken(pair)
  const quote = state.pairs.quoteToken(pair)
  const sell = event.token_in === state.tokens.address[target]
  const targetRaw = sell ? event.amount_in : event.amount_out
  const quoteRaw = sell ? event.amount_out : event.amount_in
  const targetAmount = amountOf(targetRaw, tokens.get(target, TOKEN.decimals))
  const quoteAmount = amountOf(quoteRaw, tokens.get(quote, TOKEN.decimals))
  const quoteUsd = tokens.get(quote, TOKEN.priceUsd)
  const nativeUsd = nativePrice(state)
  const quoteIsNative = tokens.get(quote, TOKEN.rank) === RANK.native
  const targetIsNative = tokens.get(target, TOKEN.rank) === RANK.native

  const unpriced = !(quoteAmount > 0 && targetAmount > 0 && quoteUsd > 0)
  const priceQuote = unpriced ? Number.NaN : quoteAmount / targetAmount
  const priceUsd = priceQuote * quoteUsd
  const amountUsd = unpriced ? Number.NaN : quoteAmount * quoteUsd
  const amountNative = quoteIsNative ? quoteAmount : targetIsNative ? targetAmount : amountUsd / nativeUsd
  const priceNative = unpriced ? Number.NaN : quoteIsNative ? priceQuote : targetIsNative ? 1 : priceUsd / nativeUsd

  const sqrtRatio = ratioOfSqrtPrice(event.sqrt_price ?? null, state)
  let flags = unpriced ? FLAG.unpriced : 0
  const tiny = targetRaw.length <= SMALL_RAW_DIGITS || quoteRaw.length <= SMALL_RAW_DIGITS
  if (amountUsd < DUST_USD || (tiny && (unpriced || amountUsd < SMALL_USD))) flags |= FLAG.dust
  if (!unpriced) {
    const before = midPrice(state, pair, rows.get(pair, PAIR.sqrtRatio), rows.get(pair, PAIR.reserveRatio))
    const after = midPrice(state, pair, sqrtRatio, ratioAfter)
    if (isOff(priceQuote, before, MID_BEFORE_FACTOR) && isOff(priceQuote, after, MID_AFTER_FACTOR))
      flags |= FLAG.outlier
  }

  const trade: Trade = {
    tx_index: event.tx_index,
    log_index: event.log_index,
    sub: event.sub ?? 0,
    tx_hash: event.tx_hash,
    id,
    tx_seq: rows.get(pair, PAIR.txCount) + 1,
    sell,
    sender: event.sender,
    recipient: event.recipient,
    wallet: event.wallet,
    amount_in: event.amount_in,
    amount_out: event.amount_out,
    reserve0: event.reserve0 ?? null,
    reserve1: event.reserve1 ?? null,
    price_usd: priceUsd,
    price_native: priceNative,
    price_quote: priceQuote,
    quote_usd: quoteUsd,
    quote_native: quoteIsNative ? 1 : quoteUsd / nativeUsd,
    amount_usd: amountUsd,
    amount_native: amountNative,
    flags,
    quote_path: Number.isNaN(quoteUsd) ? 'unknown' : quotePath(state, quote),
    profile: event.profile ?? null,
  }
  return { trade, quoteAmount, targetAmount, sqrtRatio }
}

export function nativePrice(state: FoldState): number {
  const native = state.facts.native === undefined ? undefined : state.tokens.find(state.facts.native)
  return native === undefined ? Number.NaN : state.tokens.rows.get(native, TOKEN.priceUsd)
}

/** Raw token1 per token0. */
function ratioOfSqrtPrice(raw: string | null, state: FoldState): number {
  if (raw === null) return Number.NaN
  const root = Number(raw) / SQRT_PRICE_ONE[state.facts.family]
  return root > 0 ? root * root : Number.NaN
}

/** Quote per target, decimals applied: from the square-root price if known, else from the reserves. */
function midPrice(state: FoldState, pair: number, sqrtRatio: number, reserveRatio: number): number {
  const { rows } = state.pairs
  const tokens = state.tokens.rows
  const decimals0 = tokens.get(rows.get(pair, PAIR.token0), TOKEN.decimals)
  const decimals1 = tokens.get(rows.get(pair, PAIR.token1), TOKEN.decimals)
  const price1Per0 = (Number.isNaN(sqrtRatio) ? reserveRatio : sqrtRatio) * powerOfTen(decimals0 - decimals1)
  return rows.get(pair, PAIR.target) === 0 ? price1Per0 : 1 / price1Per0
}

/**
 * How the quote got its price, and the pools it came from: `main:<pool>`, `median:<pool>,<pool>`. `held`: by a pair that is no longer
 * its main pair, while the new one has no price.
 */
function quotePath({ tokens, pairs }: FoldState, quote: number): string {
  const by = PRICED_BY[tokens.rows.get(quote, TOKEN.pricedBy)] ?? 'unknown'
  const id = tokens.rows.get(quote, TOKEN.pricePool)
  const pool = pairs.address[id]
  if (pool === undefined) return by
  const isHeld = by === 'main' && tokens.rows.get(quote, TOKEN.mainPair) !== id
  const how = isHeld ? 'held' : by
  const pool2 = isHeld ? undefined : pairs.address[tokens.rows.get(quote, TOKEN.pricePool2)]
  const last = tokens.quotePaths[quote]
  // Kept: many trades in a row have the same quote with the same path.
  if (last !== undefined && last.how === how && last.pool === pool && last.pool2 === pool2) return last.text
  const text = pool2 === undefined ? `${how}:${pool}` : `${how}:${pool},${pool2}`
  tokens.quotePaths[quote] = { how, pool, pool2, text }
  return text
}
