import { type KeptTrade, NO_WALLET, type WindowTally } from './windows.js'

/** A good price and the second it is of. */
export type TimedPrice = { timeS: number; priceUsd: number }
/** The second of a price that is only known to be older than the kept trades. */
export const UNKNOWN_TIME_S = 0

const TIME = 0
/** The chain's now when the trade came, or a lower bound of it that is not below the trade's time. Never falls along the rows. */
const SEEN = 1
const BLOCK = 2
const SELL = 3
const AMOUNT_USD = 4
const AMOUNT_TARGET = 5
const GOOD_PRICE = 6
const WALLET = 7
const WIDTH = 8

const NO_ROWS = new Float64Array(0)
const MIN_ROWS = 4

/** One pair's last trades in event order, as rows of doubles. */
export class PairTrades {
  private rows: Float64Array = NO_ROWS
  private first = 0
  private end = 0
  private good = 0
  /** The last good price of trades let go, or from before the first kept; null: not looked for while nothing good is kept. */
  before: TimedPrice | null = null

  get size(): number {
    return this.end - this.first
  }

  get hasGood(): boolean {
    return this.good > 0
  }

  push(trade: KeptTrade, nowS: number): void {
    if ((this.end + 1) * WIDTH > this.rows.length) this.makeRoom()
    const at = this.end * WIDTH
    const { rows } = this
    rows[at + TIME] = trade.timeS
    rows[at + SEEN] = Math.max(nowS, this.size === 0 ? trade.timeS : this.read(this.end - 1, SEEN))
    rows[at + BLOCK] = trade.block
    rows[at + SELL] = trade.sell ? 1 : 0
    rows[at + AMOUNT_USD] = known(trade.amountUsd)
    rows[at + AMOUNT_TARGET] = known(trade.amountTarget)
    rows[at + GOOD_PRICE] = trade.goodPriceUsd
    rows[at + WALLET] = trade.walletId
    this.end += 1
    if (!Number.isNaN(trade.goodPriceUsd)) this.good += 1
  }

  /** Lets go of what came at or before `seenS`, and remembers its last good price. */
  dropOlderThan(seenS: number, release: (walletId: number) => void): void {
    while (this.size > 0 && this.read(this.first, SEEN) <= seenS) {
      const timeS = this.read(this.first, TIME)
      const priceUsd = this.read(this.first, GOOD_PRICE)
      const isLast = this.before === null || timeS >= this.before.timeS
      if (!Number.isNaN(priceUsd) && isLast) this.before = { timeS, priceUsd }
      this.forget(this.first, release)
      this.first += 1
    }
    this.shrink()
  }

  /** Takes back the trades of blocks above `block`: a reorg orphans the last ones. */
  removeAbove(block: number, release: (walletId: number) => void): void {
    while (this.size > 0 && this.read(this.end - 1, BLOCK) > block) {
      this.end -= 1
      this.forget(this.end, release)
    }
    // At rest again, at what the retract says: a price told before it may have been of an orphaned block never kept here.
    if (this.good === 0 && this.before?.timeS === UNKNOWN_TIME_S) this.before = null
    this.shrink()
  }

  /** Adds the trades after `sinceS`. */
  count(sinceS: number, into: WindowTally): void {
    for (let index = this.end - 1; index >= this.first && this.read(index, SEEN) > sinceS; index -= 1) {
      if (this.read(index, TIME) <= sinceS) continue
      into.add({
        sell: this.read(index, SELL) === 1,
        amountUsd: this.read(index, AMOUNT_USD),
        amountTarget: this.read(index, AMOUNT_TARGET),
        goodPriceUsd: this.read(index, GOOD_PRICE),
        walletId: this.read(index, WALLET),
      })
    }
  }

  /** The last good price of the latest second up to `untilS` that had one; null: of the trades known here none. */
  lastGood(untilS: number): TimedPrice | null {
    let best: TimedPrice | null = null
    for (let index = this.end - 1; index >= this.first; index -= 1) {
      // What comes before is of no later second, and earlier in the order.
      if (best !== null && this.read(index, SEEN) <= best.timeS) return best
      const timeS = this.read(index, TIME)
      const priceUsd = this.read(index, GOOD_PRICE)
      if (timeS > untilS || Number.isNaN(priceUsd)) continue
      if (best === null || timeS > best.timeS) best = { timeS, priceUsd }
    }
    if (this.before === null) return best
    return best === null || this.before.timeS > best.timeS ? this.before : best
  }

  private read(index: number, field: number): number {
    return this.rows[index * WIDTH + field] as number
  }

  private forget(index: number, release: (walletId: number) => void): void {
    const walletId = this.read(index, WALLET)
    if (walletId !== NO_WALLET) release(walletId)
    if (!Number.isNaN(this.read(index, GOOD_PRICE))) this.good -= 1
  }

  private makeRoom(): void {
    this.moveTo(Math.max(MIN_ROWS, this.size * 2))
  }

  private shrink(): void {
    const held = this.rows.length / WIDTH
    if (this.size === 0) this.moveTo(0)
    else if (held > MIN_ROWS && this.size * 4 < held) this.moveTo(this.size * 2)
  }

  private moveTo(capacity: number): void {
    const rows = capacity === 0 ? NO_ROWS : new Float64Array(capacity * WIDTH)
    rows.set(this.rows.subarray(this.first * WIDTH, this.end * WIDTH))
    this.rows = rows
    this.end -= this.first
    this.first = 0
  }
}

function known(value: number): number {
  return Number.isNaN(value) ? 0 : value
}
