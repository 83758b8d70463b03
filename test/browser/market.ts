/** A small market for the page tests: candles, swaps, and further updates on request. */
import type { BlockUpdate, LiquidityTrade } from '../../services/core/domain/records.js'
import {
  candle,
  firstUpdate,
  type GivenPair,
  PAIR,
  pairUpdate,
  T0,
  TOKEN,
  tokenInfo,
  tokenUpdate,
  trade,
  update,
  weth,
} from '../serve/updates.js'

/** More than the chart reads at once. */
export const CANDLES = 700
export const IMPOSTOR = `0x${'22'.repeat(20)}`

export function openingUpdate(): BlockUpdate {
  const candles = Array.from({ length: CANDLES }, (_, index) => {
    const close = 2 + Math.sin(index / 4) / 2
    const time = T0 - (CANDLES - index) * 60
    return candle({ time, open_u: close - 0.1, close_u: close, high_u: close + 0.2, low_u: 1 })
  })
  const { pairs, tokens, ...rest } = firstUpdate()
  const impostor = tokenUpdate({ token: IMPOSTOR, info: tokenInfo({ symbol: 'WETH' }), main_pair: null, tvl: 10 })
  const main_pair_changes = [{ token: TOKEN, old_pair: null, new_pair: PAIR }]
  return {
    ...{ ...rest, main_pair_changes },
    pairs: [pairUpdate({ candles }), ...pairs.slice(1)],
    tokens: [...tokens, impostor],
  }
}

/** The first update of a chain with many tokens, each in more demand than the next. The last has the highest price. */
export function manyTokens(chain: string, count: number): BlockUpdate {
  const tokens = Array.from({ length: count }, (_, index) =>
    tokenUpdate({
      token: `0x${(index + 1).toString(16).padStart(40, '0')}`,
      info: tokenInfo({ symbol: `T${index + 1}`, name: `Token ${index + 1}` }),
      ...{ main_pair: null, tvl: (count - index) / count, price_usd: index === count - 1 ? 5000 : 2 },
    }),
  )
  return update({ chain, tokens })
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
