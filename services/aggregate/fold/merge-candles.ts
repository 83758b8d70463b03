/** Merges what a block did to a pair into its candles, and keeps each candle's open at the close before it. */
import { bucketStart, INTERVAL_SECONDS, K1, K60 } from '../../core/domain/buckets.js'
import { INTERVALS } from '../../core/domain/chains.js'
import type { PackedCandles } from '../../core/domain/packed-candles.js'
import {
  AMOUNT,
  BUY_VOLUME,
  BUYS,
  type BucketRing,
  CLOSE,
  CURRENCIES,
  FIRST,
  HIGH,
  LOW,
  OPEN,
  SELL_VOLUME,
  SELLS,
  VOLUME,
} from '../state/bucket-ring.js'
import type { FoldState } from '../state/fold-state.js'
import type { Holder } from '../state/journal.js'
import type { Windows } from '../state/rolling-windows.js'
import type { BlockPair, CurrencySums } from './block-pair.js'
import { CandlePacker } from './pack-candles.js'

const packer = new CandlePacker()

/** How long before the final now a ring's buckets are still needed: windows reach back a day, late blocks up to their limit. */
const DAY_S = 86_400
const WINDOW_REACH_S: Record<number, number> = { [K1]: DAY_S + 120, [K60]: DAY_S + 7200 }

/** Returns the candles it changed, as they are now. */
export function mergeIntoPair(state: FoldState, block: BlockPair, timeS: number): PackedCandles {
  const { rings } = state.activePair(block.id)
  packer.begin()
  for (let interval = 0; interval < INTERVALS.length; interval += 1) {
    const ring = rings[interval] as BucketRing
    const bucketS = bucketStart(interval, timeS)
    const first = merge(state, 'pair', block.id, ring, interval, block, bucketS)
    const end = first + 1 + carryCloses(state, 'pair', block.id, ring, interval, first)
    for (let index = first; index < end; index += 1) packer.add(ring, interval, index)
  }
  return packer.packed()
}

/** For a token with several pairs: its windows count over all of them. */
export function mergeIntoToken(
  state: FoldState,
  token: number,
  windows: Windows,
  block: BlockPair,
  timeS: number,
): void {
  mergeIntoRing(state, token, windows.minutes, K1, block, bucketStart(K1, timeS))
  mergeIntoRing(state, token, windows.hours, K60, block, bucketStart(K60, timeS))
}

function mergeIntoRing(
  state: FoldState,
  token: number,
  ring: BucketRing,
  interval: number,
  block: BlockPair,
  bucketS: number,
): void {
  carryCloses(state, 'token', token, ring, interval, merge(state, 'token', token, ring, interval, block, bucketS))
}

/** Returns the index of the bucket. */

function merge(
  state: FoldState,
  holder: Holder,
  id: number,
  ring: BucketRing,
  interval: number,
  block: BlockPair,
  bucketS: number,
): number {
  trim(state, ring, interval)
  let index = ring.indexOf(bucketS)
  if (index < 0) {
    index = ring.open(bucketS)
    state.noteNewBucket(holder, id, interval, bucketS)
  } else state.touchBucket(holder, id, ring, interval, index)
  addBlock(ring, ring.at(index), block)
  return index
}

function trim(state: FoldState, ring: BucketRing, interval: number): void {
  const reachS = Math.max(WINDOW_REACH_S[interval] ?? 0, state.settings.maxTimeBackS)
  ring.dropBefore(state.finalNowS - reachS - (INTERVAL_SECONDS[interval] as number))
}

function addBlock(ring: BucketRing, at: number, block: BlockPair): void {
  const { data } = ring
  for (let c = 0; c < 3; c += 1) addCurrency(data, at + (CURRENCIES[c] as number), block.currencies[c] as CurrencySums)
  data[at + BUY_VOLUME] = (data[at + BUY_VOLUME] as number) + block.buyVolume
  data[at + SELL_VOLUME] = (data[at + SELL_VOLUME] as number) + block.sellVolume
  data[at + BUYS] = (data[at + BUYS] as number) + block.buys
  data[at + SELLS] = (data[at + SELLS] as number) + block.sells
  data[at + AMOUNT] = (data[at + AMOUNT] as number) + block.amount
}

function addCurrency(data: Float64Array, base: number, sums: CurrencySums): void {
  data[base + VOLUME] = (data[base + VOLUME] as number) + sums.volume
  if (Number.isNaN(sums.first)) return
  if (Number.isNaN(data[base + FIRST] as number)) {
    data[base + FIRST] = sums.first
    if (Number.isNaN(data[base + OPEN] as number)) data[base + OPEN] = sums.first
  }
  if (!((data[base + HIGH] as number) >= sums.high)) data[base + HIGH] = sums.high
  if (!((data[base + LOW] as number) <= sums.low)) data[base + LOW] = sums.low
  data[base + CLOSE] = sums.close
}

/** A close before the last bucket changed (a late block): later opens are updated too, across flat buckets. Returns how many. */
function carryCloses(
  state: FoldState,
  holder: Holder,
  id: number,
  ring: BucketRing,
  interval: number,
  from: number,
): number {
  for (let index = from + 1; index < ring.count; index += 1) {
    if (!needsOpen(ring, index)) return index - from - 1
    state.touchBucket(holder, id, ring, interval, index)
    for (let c = 0; c < 3; c += 1) {
      const base = ring.at(index) + (CURRENCIES[c] as number)
      const open = openOf(ring, index, c)
      ring.data[base + OPEN] = open
      if (Number.isNaN(ring.data[base + FIRST] as number)) ring.data[base + CLOSE] = open
    }
  }
  return ring.count - from - 1
}

function needsOpen(ring: BucketRing, index: number): boolean {
  for (let c = 0; c < 3; c += 1) {
    const open = ring.data[ring.at(index) + (CURRENCIES[c] as number) + OPEN] as number
    if (!Object.is(open, openOf(ring, index, c))) return true
  }
  return false
}

function openOf(ring: BucketRing, index: number, currency: number): number {
  const close = ring.closeBefore(index, currency)
  if (!Number.isNaN(close)) return close
  return ring.data[ring.at(index) + (CURRENCIES[currency] as number) + FIRST] as number
}
