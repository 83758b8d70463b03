/** A small market for the page tests: candles, swaps, and further updates on request. */
import type { BlockUpdate, LiquidityTrade } from '../../services/core/domain/records.js'
import {
  candle,
  firstUpdate,
  type GivenPair,
  pairUpdate,
  T0,
  tokenUpdate,
  trade,
  update,
  weth,
} from '../serve/updates.js'

export function openingUpdate(): BlockUpdate {
  const candles = Array.from({ length: 40 }, (_, index) => {
    const close = 2 + Math.sin(index / 4) / 2
    return candle({ time: T0 - (40 - index) * 60, open_u: close - 0.1, close_u: close, high_u: close + 0.2, low_u: 1 })
  })
  const { pairs, ...rest } = firstUpdate()
  return { ...rest, pairs: [pairUpdate({ candles }), ...pairs.slice(1)] }
}

/** The update of the next block, which changes the pair at a price. */
export function nextUpdate(seq: number, priceUsd: number, given: GivenPair): BlockUpdate {
  const time = T0 + seq
  const pair = pairUpdate({
    price_usd: priceUsd,
    last_price_usd: 2,
    updated_at: time,
    candles: [candle({ time: T0, close_u: priceUsd, high_u: priceUsd + 1 })],
    ...given,
  })
  const tokens = [tokenUpdate({ price_usd: priceUsd, updated_at: time }), weth()]
  return update({ seq, number: 100 + seq, hash: `0xb${100 + seq}`, time, now: time, pairs: [pair], tokens })
}

export const buy = (id: string, wallet: string, priceUsd: number) =>
  trade({ id, wallet, price_usd: priceUsd, amount_usd: 1234.5 })

export const addLiquidity = (id: string): LiquidityTrade => ({
  ...{ tx_index: 2, log_index: 9, sub: 0, tx_hash: '0xliquidity', id },
  kind: 'add',
  ...{ sender: '0xsender', wallet: '0xprovider', amount0: '1000000', amount1: '1000000000000000000' },
  ...{ reserve0: '5000000000000', reserve1: '3000000000000000000' },
  ...{ price0_usd: 2, price1_usd: 1000, amount_usd: 2000, amount_native: 2 },
})
