import type { PairEvents } from '../../core/domain/pair-events.js'
import { type KeptTrade, NO_WALLET, type WindowTally } from './windows.js'

/** A good price and its time. */
export type TimedPrice = { timeS: number; priceUsd: number }
/** Time of a price that is only known to be older than the kept trades. */
export const UNKNOWN_TIME_S = 0

const TIME = 0
/** Chain time when the trade arrived, or a lower bound that is at least the trade's time. Never decreases along the rows. */
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

/** The trades of a pair's entry that nobody has asked for yet. */
export type UnreadTrades = {
  /** Null once they are read or dropped. */
  events: PairEvents | null
  timeS: number
  block: number
  /** As the rows have it. */
  seenS: number
  /** Of the pair's target token, when the entry came. */
  decimals: number | null
  /** The pair's last good price before and after them. */
  priceBeforeUsd: number
  priceAfterUsd: number
}

/** One pair's recent trades in event order, as rows of doubles; the newest may be unread. */
export class PairTrades {
  private rows: Float64Array = NO_ROWS
  private first = 0
  private end = 0
  private good = 0
  /** The last good price before the kept trades; null: not known yet. */
  before: TimedPrice | null = null
  readonly unread: UnreadTrades[] = []

  /** Read ones. */
  private get size(): number {
    return this.end - this.first
  }

  get isEmpty(): boolean {
    return this.size === 0 && this.unread.length === 0
  }

  countAll(): number {
    return this.unread.reduce((sum, { events }) => sum + (events?.tradeCount ?? 0), this.size)
  }

  /** What SEEN would be for a trade that comes now. */
  seenAt(timeS: number, nowS: number): number {
    const last = this.unread.at(-1)?.seenS ?? (this.size === 0 ? timeS : this.read(this.end - 1, SEEN))
    return Math.max(nowS, last)
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

  /** Drops trades that arrived at or before `seenS` and keeps their last good price. `readFirst` reads the first unread ones. */
  dropOlderThan(seenS: number, release: (walletId: number) => void, readFirst: () => void): void {
    this.dropRows(seenS, release)
    for (let next = this.unread[0]; next !== undefined && next.seenS <= seenS; next = this.unread[0]) {
      if (this.size > 0) return
      if (isPriceKnown(next)) this.dropUnread(next)
      else {
        readFirst()
        this.dropRows(seenS, release)
      }
    }
  }

  private dropUnread({ timeS, priceAfterUsd: priceUsd }: UnreadTrades): void {
    if (this.before === null || timeS >= this.before.timeS) this.before = { timeS, priceUsd }
    const [dropped] = this.unread.splice(0, 1)
    if (dropped !== undefined) dropped.events = null
  }

  private dropRows(seenS: number, release: (walletId: number) => void): void {
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

  /** Removes trades of blocks above `block`, which a reorg orphaned. */
  removeAbove(block: number, release: (walletId: number) => void): void {
    while (this.size > 0 && this.read(this.end - 1, BLOCK) > block) {
      this.end -= 1
      this.forget(this.end, release)
    }
    // The price before may come from an orphaned block that was never kept here; the retract carries the right one.
    if (this.good === 0 && this.before?.timeS === UNKNOWN_TIME_S) this.before = null
    this.shrink()
  }

  /** Counts the trades after `sinceS`. */
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

  /** The last good price up to `untilS`, latest second first; null: no known trade has one. */
  lastGood(untilS: number): TimedPrice | null {
    let best: TimedPrice | null = null
    for (let index = this.end - 1; index >= this.first; index -= 1) {
      // Earlier rows cannot have a later time.
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

/** If the price changed, the last good trade has the price after it. If not, there may be none. */
function isPriceKnown({ priceBeforeUsd, priceAfterUsd }: UnreadTrades): boolean {
  return !Number.isNaN(priceAfterUsd) && priceAfterUsd !== priceBeforeUsd
}
