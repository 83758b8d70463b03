/** All pairs of a chain: numbers in a slab, texts beside it, and for pairs with recent trades their candles and windows. */

import { K1, K60 } from '../../core/domain/buckets.js'
import { INTERVALS } from '../../core/domain/chains.js'
import { BucketRing } from './bucket-ring.js'
import { type SharedSpace, Windows } from './rolling-windows.js'
import { Slab } from './slab.js'

export const PAIR = {
  token0: 0,
  token1: 1,
  /** 0 or 1: which token is the target. */
  target: 2,
  fee: 3,
  createdAtS: 4,
  createdBlock: 5,
  /** Last good price in USD, native, quote. */
  priceUsd: 6,
  priceNative: 7,
  priceQuote: 8,
  /** The good USD price before the last block that had one. */
  lastPriceUsd: 9,
  openPriceUsd: 10,
  athUsd: 11,
  tvlUsd: 12,
  liquidityUsd: 13,
  txCount: 14,
  firstTradeAtS: 15,
  firstTradeBlock: 16,
  lastTradeAtS: 17,
  updatedAtS: 18,
  /** Raw token1 per token0 from the last known square-root price. */
  sqrtRatio: 19,
  reserve0: 20,
  reserve1: 21,
  /** The highest time of a trade; the last trade's may be earlier. */
  newestTradeAtS: 22,
  /** The quote side in native coins, as of the TVL. */
  liquidityNative: 23,
  /** Raw token1 per token0 from the last known reserves. */
  reserveRatio: 24,
  /** The quote's USD price, as of the TVL. */
  quoteUsd: 25,
  /** The chain's now at the last block with an event of this pair. */
  seenAtS: 26,
  /** The target's total supply then, and without what was burnt; decimals applied. */
  supply: 27,
  supplyLeft: 28,
} as const
const PAIR_STRIDE = 29

/** Raw integers as on chain; replaced whole, so that a journal can keep the old one. */
export type PairText = {
  readonly amm: string
  readonly creator: string | null
  readonly reserve0: string | null
  readonly reserve1: string | null
  /** Reserves after the first liquidity event; undefined before it. */
  readonly initReserve0?: string | null
  readonly initReserve1?: string | null
  /** Its target's first pool, whose first liquidity is in the history: its first price is the launch price. */
  readonly isLaunch?: true
  readonly shareSupply?: string
}

/** Candles of all intervals and the windows over three of them. */
export class ActivePair {
  /** The store has it, as it is or as it was. */
  isStored = false
  readonly windows: Windows

  constructor(
    space: SharedSpace,
    readonly rings: readonly BucketRing[] = INTERVALS.map(() => new BucketRing(space.buckets)),
  ) {
    this.windows = new Windows(space, rings[K1], rings[K60])
  }

  /** Gives back what other pairs can use; the pair must be loaded again before it is used. */
  dispose(): void {
    for (const ring of this.rings) ring.dispose()
    this.windows.wallets.dispose()
  }
}

export class PairTable {
  readonly rows = new Slab(PAIR_STRIDE)
  readonly address: string[] = []
  readonly text: PairText[] = []
  /** null: no trade yet, or not in memory (`resting`). */
  readonly active: (ActivePair | null)[] = []
  /** Pairs idle for so long that their candles are only in the state store. */
  readonly resting = new Set<number>()
  private readonly ids = new Map<string, number>()

  find(address: string): number | undefined {
    return this.ids.get(address)
  }

  add(address: string, text: PairText): number {
    const id = this.rows.add()
    this.ids.set(address, id)
    this.address[id] = address
    this.text[id] = text
    this.active[id] = null
    return id
  }

  /** Removes the newest pair. */
  pop(): void {
    const id = this.rows.length - 1
    this.ids.delete(this.address[id] as string)
    this.address.length = id
    this.text.length = id
    this.active.length = id
    this.resting.delete(id)
    this.rows.pop()
  }

  get length(): number {
    return this.rows.length
  }

  targetToken(id: number): number {
    return this.rows.get(id, this.rows.get(id, PAIR.target) === 0 ? PAIR.token0 : PAIR.token1)
  }

  quoteToken(id: number): number {
    return this.rows.get(id, this.rows.get(id, PAIR.target) === 0 ? PAIR.token1 : PAIR.token0)
  }
}
