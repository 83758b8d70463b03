/** Converts swaps and liquidity events from REST and WebSocket to tape rows. */
import { toNumber } from './format.js'

const LIQUIDITY_SIDES = { addLiquidity: 'Add', removeLiquidity: 'Remove', createPair: 'Create' }

/** @param {object} tx the `tx` of a push */
export function swapEvent(tx) {
  const sell = tx.from_address === tx.target_token
  return {
    ...sharedFields(tx),
    id: tx.id,
    live: true,
    kind: sell ? 'sell' : 'buy',
    side: sell ? 'Sell' : 'Buy',
    symbol: sell ? tx.from_symbol : tx.to_symbol,
    quoteSymbol: sell ? tx.to_symbol : tx.from_symbol,
    priceUsd: sell ? tx.from_price_usd : tx.to_price_usd,
    amount: toNumber(sell ? tx.from_amount : tx.to_amount),
  }
}

/** @param {object} tx an item of /v2/txs/swap
 *  @param {string} target the pair's target token */
export function pastSwapEvent(tx, target) {
  const sell = tx.from_token_address === target
  const [of, against] = sell ? ['from', 'to'] : ['to', 'from']
  return {
    ...sharedFields({ ...tx, time: tx.tx_time }),
    id: tx.id,
    live: false,
    kind: sell ? 'sell' : 'buy',
    side: sell ? 'Sell' : 'Buy',
    symbol: tx[`${of}_token_symbol`],
    quoteSymbol: tx[`${against}_token_symbol`],
    priceUsd: tx[`${of}_token_price_usd`],
    amount: toNumber(tx[`${of}_token_amount`]),
  }
}

/** @param {object} tx the `tx` of a push
 *  @param {{ pairId: string, symbol: string }} market */
export function liquidityEvent(tx, market) {
  const [first, second] = [tx.token0_symbol, tx.token1_symbol]
  return {
    ...sharedFields(tx),
    pairId: market.pairId,
    id: tx.id,
    live: true,
    kind: 'liquidity',
    side: LIQUIDITY_SIDES[tx.type] ?? tx.type,
    symbol: market.symbol,
    quoteSymbol: first === market.symbol ? second : first,
    priceUsd: undefined,
    amount: undefined,
  }
}

function sharedFields(tx) {
  return {
    chain: tx.chain,
    pairId: `${tx.pair_address}-${tx.chain}`,
    timeS: tx.time,
    amountUsd: tx.amount_usd,
    wallet: tx.wallet_address,
  }
}
