/** Applies events of pools: creation, swaps, liquidity. */
import { amountOf, RANK } from '../../core/domain/money.js'
import type { LiquidityEvent, PoolEvent, SwapEvent } from '../../core/domain/records.js'
import type { FoldState } from '../state/fold-state.js'
import type { EventKey } from '../state/journal.js'
import { PAIR, type PairText } from '../state/pairs.js'
import { TOKEN } from '../state/tokens.js'
import type { BlockChanges } from './block-changes.js'
import { followMainPair } from './main-pair.js'
import { findReferencePrice, isReferencePool } from './reference-prices.js'
import { type Reserves, readReserves } from './reserves.js'
import { chooseTarget, describe, graduate, tokenId } from './token-events.js'
import { nativePrice, valueSwap } from './value-swap.js'

export function applyPool(fold: BlockChanges, event: PoolEvent): void {
  const { state, block } = fold
  if (state.pairs.find(event.pool) !== undefined) return
  if (event.token0 === event.token1) return fold.drop(event, 'pool_mismatch', 'token0 and token1 are the same')
  const token0 = tokenId(fold, event.token0)
  const token1 = tokenId(fold, event.token1)
  const text: PairText = { amm: event.amm, creator: event.creator ?? null, reserve0: null, reserve1: null }
  const id = state.pairs.add(event.pool, text)
  state.markNewPair(id)
  const { rows } = state.pairs
  rows.set(id, PAIR.token0, token0)
  rows.set(id, PAIR.token1, token1)
  rows.set(id, PAIR.target, chooseTarget(state, token0, token1))
  rows.set(id, PAIR.fee, event.fee ?? Number.NaN)
  rows.set(id, PAIR.createdAtS, block.time)
  rows.set(id, PAIR.createdBlock, block.number)
  for (const field of [PAIR.txCount, PAIR.firstTradeAtS, PAIR.firstTradeBlock, PAIR.lastTradeAtS, PAIR.newestTradeAtS])
    rows.set(id, field, 0)
  const target = state.pairs.targetToken(id)
  giveOwnWindows(state, target)
  state.tokens.addPair(target, state.pairs.quoteToken(id), id)
  fold.pair(id).isNew = true
  graduate(fold, target, id)
}

/** From its second pair on, a token has its own windows over both; until now its only pair's windows were used. */
function giveOwnWindows(state: FoldState, token: number): void {
  const only = state.tokens.pairsOf(token)[0]
  if (only === undefined || (state.tokens.windows[token] ?? null) !== null) return
  state.touchToken(token)
  state.tokens.windows[token] = state.activePair(only).windows.clone()
  state.journal.texts.push({ op: 'split', id: token })
}

export function applySwap(fold: BlockChanges, event: SwapEvent): void {
  const { state, block } = fold
  const pair = state.pairs.find(event.pool)
  if (pair === undefined) return fold.drop(event, 'pool_unknown', `no pool event for ${event.pool} before this event`)
  const { rows } = state.pairs
  const token0 = state.tokens.address[rows.get(pair, PAIR.token0)]
  const token1 = state.tokens.address[rows.get(pair, PAIR.token1)]
  const fits =
    event.token_in === token0 ? event.token_out === token1 : event.token_in === token1 && event.token_out === token0
  if (!fits) return fold.drop(event, 'pool_mismatch', `the pool holds ${token0} and ${token1}`)

  const reserves = readReserves(event)
  const valued = valueSwap(state, pair, event, reserves.ratio, fold.eventId(event))
  const { trade, quoteAmount, targetAmount, sqrtRatio } = valued
  state.touchPair(pair)
  fold.pair(pair).addTrade(trade, quoteAmount, targetAmount)
  fold.poolEvents += 1
  fold.swaps += 1
  state.journal.events.push(keyOf(fold, 'trade_rows', event, trade.id))

  rows.set(pair, PAIR.txCount, trade.tx_seq)
  if (trade.tx_seq === 1) {
    rows.set(pair, PAIR.firstTradeAtS, block.time)
    rows.set(pair, PAIR.firstTradeBlock, block.number)
  }
  rows.set(pair, PAIR.lastTradeAtS, block.time)
  rows.set(pair, PAIR.newestTradeAtS, Math.max(rows.get(pair, PAIR.newestTradeAtS), block.time))
  if (!Number.isNaN(sqrtRatio)) rows.set(pair, PAIR.sqrtRatio, sqrtRatio)
  setReserves(state, pair, reserves)
  if (trade.flags === 0) setGoodPrice(fold, pair, trade.price_usd, trade.price_native, trade.price_quote)
  if (isReferencePool(state, pair)) findReferencePrice(state, state.pairs.targetToken(pair))
}

function setGoodPrice(fold: BlockChanges, pair: number, usd: number, native: number, quote: number): void {
  const { state } = fold
  const { rows } = state.pairs
  rows.set(pair, PAIR.priceUsd, usd)
  if (!Number.isNaN(native)) rows.set(pair, PAIR.priceNative, native)
  rows.set(pair, PAIR.priceQuote, quote)
  if (Number.isNaN(rows.get(pair, PAIR.openPriceUsd))) {
    rows.set(pair, PAIR.openPriceUsd, usd)
    if (state.pairs.text[pair]?.isLaunch === true) describe(fold, state.pairs.targetToken(pair), { launchPrice: usd })
  }
  if (!(rows.get(pair, PAIR.athUsd) >= usd)) rows.set(pair, PAIR.athUsd, usd)
  const token = state.pairs.targetToken(pair)
  if (state.tokens.rows.get(token, TOKEN.mainPair) === pair) followMainPair(state, token, pair)
  if (state.tokens.rows.get(token, TOKEN.rank) === RANK.native && isReferencePool(state, pair)) {
    state.touchToken(token)
    state.tokens.rows.set(token, TOKEN.anyPrice, usd)
    state.tokens.rows.set(token, TOKEN.anyPool, pair)
  }
}

export function applyLiquidity(fold: BlockChanges, event: LiquidityEvent): void {
  const { state } = fold
  const pair = state.pairs.find(event.pool)
  if (pair === undefined) return fold.drop(event, 'pool_unknown', `no pool event for ${event.pool} before this event`)
  const { rows } = state.pairs
  const tokens = state.tokens.rows
  const id = fold.eventId(event)
  const target = state.pairs.targetToken(pair)
  const quote = state.pairs.quoteToken(pair)
  const targetIs0 = rows.get(pair, PAIR.target) === 0
  const quoteUsd = tokens.get(quote, TOKEN.priceUsd)
  const targetUsd = rows.get(pair, PAIR.priceUsd)
  const usd0 = targetIs0 ? targetUsd : quoteUsd
  const usd1 = targetIs0 ? quoteUsd : targetUsd
  const decimals0 = tokens.get(targetIs0 ? target : quote, TOKEN.decimals)
  const decimals1 = tokens.get(targetIs0 ? quote : target, TOKEN.decimals)
  const amountUsd = amountOf(event.amount0, decimals0) * usd0 + amountOf(event.amount1, decimals1) * usd1
  state.touchPair(pair)
  fold.pair(pair).liquidity.push({
    tx_index: event.tx_index,
    log_index: event.log_index,
    sub: event.sub ?? 0,
    tx_hash: event.tx_hash,
    id,
    kind: event.kind,
    sender: event.sender,
    wallet: event.wallet,
    amount0: event.amount0,
    amount1: event.amount1,
    reserve0: event.reserve0 ?? null,
    reserve1: event.reserve1 ?? null,
    amount_usd: amountUsd,
    amount_native: amountUsd / nativePrice(state),
    price0_usd: usd0,
    price1_usd: usd1,
  })
  fold.poolEvents += 1
  state.journal.events.push(keyOf(fold, 'liquidity_rows', event, id))
  const first = state.pairs.text[pair]?.initReserve0 === undefined
  setReserves(state, pair, readReserves(event), first)
  const isLaunch = event.kind === 'create' && state.tokens.pairsOf(target)[0] === pair
  // After a trade, the first price is already known, or lost.
  if (isLaunch && rows.get(pair, PAIR.txCount) === 0) markLaunch(state, pair)
}

function markLaunch({ pairs, journal }: FoldState, pair: number): void {
  const old = pairs.text[pair] as PairText
  journal.texts.push({ op: 'pairText', id: pair, old })
  pairs.text[pair] = { ...old, isLaunch: true }
}

function setReserves(
  state: FoldState,
  pair: number,
  { text0, text1, raw0, raw1, ratio }: Reserves,
  first = false,
): void {
  const { rows } = state.pairs
  const old = state.pairs.text[pair] as PairText
  rows.set(pair, PAIR.reserve0, raw0)
  rows.set(pair, PAIR.reserve1, raw1)
  if (!Number.isNaN(ratio)) rows.set(pair, PAIR.reserveRatio, ratio)
  if (!first && old.reserve0 === text0 && old.reserve1 === text1) return
  state.journal.texts.push({ op: 'pairText', id: pair, old })
  state.pairs.text[pair] = first
    ? { ...old, reserve0: text0, reserve1: text1, initReserve0: text0, initReserve1: text1 }
    : { ...old, reserve0: text0, reserve1: text1 }
}

function keyOf(fold: BlockChanges, table: EventKey['table'], event: SwapEvent | LiquidityEvent, id: string): EventKey {
  return {
    table,
    pair: event.pool,
    timeS: fold.block.time,
    block: fold.block.number,
    txIndex: event.tx_index,
    logIndex: event.log_index,
    sub: event.sub ?? 0,
    id,
  }
}
