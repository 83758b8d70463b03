import type { Window } from '../../core/domain/records.js'
import type { KeptTrade } from './kept-trade.js'
import { NO_WALLET } from './wallet-ids.js'
import { EMPTY_WINDOW } from './windows.js'

/** Sums of one window, over the trades of one pair or of many. */
export class WindowTally {
  private readonly sums: Window = { ...EMPTY_WINDOW }
  private readonly buyers = new Set<number>()
  private readonly sellers = new Set<number>()

  add({ sell, amountUsd, amountTarget, goodPriceUsd, walletId }: Omit<KeptTrade, 'timeS' | 'block'>): void {
    const { sums } = this
    if (sell) {
      sums.sells += 1
      sums.sell_volume += amountUsd
    } else {
      sums.buys += 1
      sums.buy_volume += amountUsd
    }
    sums.amount += amountTarget
    if (walletId !== NO_WALLET) (sell ? this.sellers : this.buyers).add(walletId)
    if (Number.isNaN(goodPriceUsd)) return
    // Comparisons with an unknown number are false: the first price is both.
    if (!(goodPriceUsd <= sums.high)) sums.high = goodPriceUsd
    if (!(goodPriceUsd >= sums.low)) sums.low = goodPriceUsd
  }

  window(priceBefore: number): Window {
    let makers = this.buyers.size
    for (const seller of this.sellers) if (!this.buyers.has(seller)) makers += 1
    const distinct = { buyers: this.buyers.size, sellers: this.sellers.size, makers }
    return { ...this.sums, ...distinct, price_before: priceBefore }
  }
}
