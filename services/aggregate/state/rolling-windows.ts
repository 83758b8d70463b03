/**
 * Rolling windows of a pair or token, to the minute: buckets of minutes and hours, and when each wallet last traded. Sums are
 * recomputed over the buckets each time, in one fixed order: nothing is ever subtracted, so nothing drifts.
 */
import { bucketStart, K1, K60 } from '../../core/domain/buckets.js'
import { WINDOW_WIDTH } from '../../core/domain/packed-windows.js'
import {
  AMOUNT,
  BUCKET_WIDTH,
  BUY_VOLUME,
  BUYERS,
  BUYS,
  BucketRing,
  HIGH,
  LOW,
  MAKERS,
  SELL_VOLUME,
  SELLERS,
  SELLS,
  USD,
} from './bucket-ring.js'
import type { BucketRows } from './bucket-rows.js'
import { type WalletNames, WalletTable } from './wallets.js'

/** One window's figures in `WindowFigures`, in this order. */
export const FIGURE = {
  buyVolume: 0,
  sellVolume: 1,
  buys: 2,
  sells: 3,
  buyers: 4,
  sellers: 5,
  makers: 6,
  amount: 7,
  high: 8,
  low: 9,
  priceBefore: 10,
} as const
export const WINDOW_COUNT = 4

/** A wallet last seen longer ago than this (before the final now) is in no window, whatever a reorg may undo. */
export const WALLET_REACH_S = 90_000

const MINUTE_S = 60
const HOUR_S = 3600
/** UPDATE_WINDOWS in minutes. */
export const MINUTE_WINDOWS = [15, 60, 240, 1440] as const

/** What all pairs and tokens of a chain share. */
export type SharedSpace = { readonly names: WalletNames; readonly buckets: BucketRows }

/** Segments of time in which the checkpoint stores wallets. */
export type WalletSegments = {
  times: number[]
  /** The wallets of the newest. */
  readonly newest: Set<string>
  /** Wallets whose entry changed since the last checkpoint. */
  readonly changed: Set<string>
}

export class Windows {
  readonly wallets: WalletTable
  /** Null: no wallet is stored in segments yet. */
  segments: WalletSegments | null = null

  constructor(
    private readonly space: SharedSpace,
    readonly minutes: BucketRing = new BucketRing(space.buckets),
    readonly hours: BucketRing = new BucketRing(space.buckets),
    wallets?: WalletTable,
  ) {
    this.wallets = wallets ?? new WalletTable(space.names)
  }

  /** When a wallet last bought and last sold here; 0 for never. */
  lastTrades(wallet: string): [buyS: number, sellS: number] {
    const slot = this.wallets.find(this.space.names.idOf(wallet))
    return [this.wallets.lastBuy(slot), this.wallets.lastSell(slot)]
  }

  clone(): Windows {
    return new Windows(this.space, this.minutes.clone(), this.hours.clone(), this.wallets.clone())
  }

  /** Gives back what others can use; the windows must not be used afterwards. */
  dispose(): void {
    this.minutes.dispose()
    this.hours.dispose()
    this.wallets.dispose()
  }

  /** Sets a wallet's last buy and sell and moves it between the buckets that count it. */
  setWallet(wallet: string, buyS: number, sellS: number): void {
    const id = this.space.names.idOf(wallet)
    this.setFound(wallet, id, this.wallets.find(id), buyS, sellS)
  }

  /** The same for a wallet whose id, and place in the table, are known. */
  setFound(wallet: string, id: number, slot: number, buyS: number, sellS: number): void {
    const oldBuyS = this.wallets.lastBuy(slot)
    const oldSellS = this.wallets.lastSell(slot)
    this.move(BUYERS, oldBuyS, buyS)
    this.move(SELLERS, oldSellS, sellS)
    this.move(MAKERS, Math.max(oldBuyS, oldSellS), Math.max(buyS, sellS))
    this.wallets.set(id, buyS, sellS, slot)
    this.segments?.changed.add(wallet)
  }

  private move(field: number, fromS: number, toS: number): void {
    if (fromS === toS) return
    this.count(field, fromS, -1)
    this.count(field, toS, 1)
  }

  private count(field: number, timeS: number, change: number): void {
    if (timeS === 0) return
    add(this.minutes, field, bucketStart(K1, timeS), change)
    add(this.hours, field, bucketStart(K60, timeS), change)
  }

  /** Fills `into` (WINDOWS_LENGTH) with all windows as of `nowS`. */
  evaluate(nowS: number, into: Float64Array): void {
    into.fill(0)
    for (let w = 0; w < WINDOW_COUNT; w += 1) {
      const at = w * WINDOW_WIDTH
      into[at + FIGURE.high] = Number.NaN
      into[at + FIGURE.low] = Number.NaN
      into[at + FIGURE.priceBefore] = this.priceBefore(w, nowS)
      const firstS = windowStart(w, nowS)
      const fullHourS = firstFullHour(w, firstS)
      addFrom(this.hours, fullHourS, Number.POSITIVE_INFINITY, into, at)
      addFrom(this.minutes, firstS, fullHourS, into, at)
    }
  }

  /** The last good price before the w-th window. */
  priceBefore(w: number, nowS: number): number {
    return closeBefore(this.minutes, windowStart(w, nowS))
  }

  /** 24 h volume in USD alone, for ranking. */
  dayVolume(nowS: number): number {
    const firstS = windowStart(WINDOW_COUNT - 1, nowS)
    const fullHourS = firstFullHour(WINDOW_COUNT - 1, firstS)
    const buyAndSell: [number, number] = [0, 0]
    addVolume(this.hours, fullHourS, Number.POSITIVE_INFINITY, buyAndSell)
    addVolume(this.minutes, firstS, fullHourS, buyAndSell)
    return buyAndSell[0] + buyAndSell[1]
  }
}

/** The first minute inside the w-th window. */
function windowStart(w: number, nowS: number): number {
  return bucketStart(K1, nowS) - ((MINUTE_WINDOWS[w] as number) - 1) * MINUTE_S
}

/** From here on whole hours are summed; a window of an hour or less is summed by minutes alone. */
function firstFullHour(w: number, firstS: number): number {
  const minutes = MINUTE_WINDOWS[w] as number
  return minutes <= 60 ? Number.POSITIVE_INFINITY : Math.ceil(firstS / HOUR_S) * HOUR_S
}

function add(ring: BucketRing, field: number, timeS: number, change: number): void {
  const index = ring.indexOf(timeS)
  if (index < 0) return
  const at = ring.at(index) + field
  ring.data[at] = (ring.data[at] as number) + change
  ring.changed(timeS)
}

function closeBefore(ring: BucketRing, timeS: number): number {
  return ring.closeBefore(ring.lowerBound(timeS), 0)
}

/** Adds the buckets from `firstS` up to before `endS`, newest first. */
function addFrom(ring: BucketRing, firstS: number, endS: number, into: Float64Array, at: number): void {
  const { data } = ring
  const last = endS === Number.POSITIVE_INFINITY ? ring.count - 1 : ring.lowerBound(endS) - 1
  let row = ring.at(last)
  for (let index = last; index >= 0 && (data[row] as number) >= firstS; index -= 1, row -= BUCKET_WIDTH) {
    into[at] = (into[at] as number) + (data[row + BUY_VOLUME] as number)
    into[at + 1] = (into[at + 1] as number) + (data[row + SELL_VOLUME] as number)
    into[at + 2] = (into[at + 2] as number) + (data[row + BUYS] as number)
    into[at + 3] = (into[at + 3] as number) + (data[row + SELLS] as number)
    into[at + 4] = (into[at + 4] as number) + (data[row + BUYERS] as number)
    into[at + 5] = (into[at + 5] as number) + (data[row + SELLERS] as number)
    into[at + 6] = (into[at + 6] as number) + (data[row + MAKERS] as number)
    into[at + 7] = (into[at + 7] as number) + (data[row + AMOUNT] as number)
    const high = data[row + USD + HIGH] as number
    if (!(high <= (into[at + 8] as number)) && !Number.isNaN(high)) into[at + 8] = high
    const low = data[row + USD + LOW] as number
    if (!(low >= (into[at + 9] as number)) && !Number.isNaN(low)) into[at + 9] = low
  }
}

function addVolume(ring: BucketRing, firstS: number, endS: number, sums: [number, number]): void {
  const last = endS === Number.POSITIVE_INFINITY ? ring.count - 1 : ring.lowerBound(endS) - 1
  for (let index = last; index >= 0 && ring.time(index) >= firstS; index -= 1) {
    const row = ring.at(index)
    sums[0] += ring.data[row + BUY_VOLUME] as number
    sums[1] += ring.data[row + SELL_VOLUME] as number
  }
}
