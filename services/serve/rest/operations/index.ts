import type { Operation } from '../operation.js'
import { klinesPair } from './klines-pair.js'
import { klinesToken } from './klines-token.js'
import { pairDetail } from './pair-detail.js'
import { tokensPrice } from './tokens-price.js'
import { tokensSearch } from './tokens-search.js'
import { txsLiq } from './txs-liq.js'
import { txsSwap } from './txs-swap.js'

/** Every operation served: a new one is a file beside these and a line here. */
export const OPERATIONS: readonly Operation[] = [
  tokensPrice,
  tokensSearch,
  pairDetail,
  klinesPair,
  klinesToken,
  txsSwap,
  txsLiq,
]
