import type { WindowName } from '../../core/domain/chains.js'
import {
  EMPTY_WINDOW,
  indexOfFigure,
  type PackedWindows,
  type UpdateWindow,
  type Window,
} from '../../core/domain/packed-windows.js'

/** A window with second precision, counted here from recent trades. */
export type CountedWindow = Exclude<WindowName, UpdateWindow>

export const COUNTED_WINDOW_S: Readonly<Record<CountedWindow, number>> = { '1m': 60, '5m': 300 }

export function isCounted(name: WindowName): name is CountedWindow {
  return name in COUNTED_WINDOW_S
}

const HOUR_BUY_VOLUME = indexOfFigure('1h', 'buy_volume')
const HOUR_SELL_VOLUME = indexOfFigure('1h', 'sell_volume')
const DAY_BUYS = indexOfFigure('24h', 'buys')
const DAY_SELLS = indexOfFigure('24h', 'sells')
const DAY_MAKERS = indexOfFigure('24h', 'makers')
const sumOf = (packed: PackedWindows, one: number, other: number): number => Number(packed[one]) + Number(packed[other])

export const hourVolumeUsd = (packed: PackedWindows): number => sumOf(packed, HOUR_BUY_VOLUME, HOUR_SELL_VOLUME)
export const dayTrades = (packed: PackedWindows): number => sumOf(packed, DAY_BUYS, DAY_SELLS)
export const dayMakers = (packed: PackedWindows): number => Number(packed[DAY_MAKERS])

/** Sums one window over the trades of one or more pairs. */
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
    // Comparisons with NaN are false: the first price becomes both high and low.
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

/** The fields of a trade that windows need. */
export type KeptTrade = {
  timeS: number
  block: number
  sell: boolean
  /** NaN (unknown) adds nothing. */
  amountUsd: number
  amountTarget: number
  /** NaN if the trade is flagged. */
  goodPriceUsd: number
  walletId: number
}

/** Id of an empty wallet, which is not counted. */
export const NO_WALLET = 0

/** Numeric ids for the wallets of kept trades: each name is stored once, as long as a trade uses it. */
export interface WalletIds {
  /** Counts as one more use. */
  use(wallet: string): number
  release(id: number): void
  clear(): void
  readonly size: number
}

export function createWalletIds(): WalletIds {
  const ids = new Map<string, number>()
  let names: string[] = ['']
  let uses: number[] = [0]
  let free: number[] = []

  function add(wallet: string): number {
    const id = free.pop() ?? names.length
    names[id] = wallet
    uses[id] = 0
    ids.set(wallet, id)
    return id
  }

  return {
    use(wallet) {
      if (wallet === '') return NO_WALLET
      const id = ids.get(wallet) ?? add(wallet)
      uses[id] = (uses[id] ?? 0) + 1
      return id
    },
    release(id) {
      if (id === NO_WALLET) return
      const left = (uses[id] ?? 0) - 1
      uses[id] = left
      if (left > 0) return
      ids.delete(names[id] ?? '')
      names[id] = ''
      free.push(id)
    },
    clear() {
      ids.clear()
      names = ['']
      uses = [0]
      free = []
    },
    get size() {
      return ids.size
    },
  }
}
