/** The rolling windows of a pair or token in one flat array: a tenth of the memory of four objects. */
import { UPDATE_WINDOWS } from './chains.js'

/** One rolling window of a pair or token. */
export type Window = {
  /** USD. */
  buy_volume: number
  sell_volume: number
  buys: number
  sells: number
  buyers: number
  sellers: number
  makers: number
  /** Target tokens. */
  amount: number
  /** Of good prices, USD; NaN: none. */
  high: number
  low: number
  /** Last good price before the window, USD; NaN: none. */
  price_before: number
}

/** Eleven figures for each of UPDATE_WINDOWS; empty in a token's entry: those of its main pair's entry. */
export type PackedWindows = Float64Array

/** A window carried by updates. */
export type UpdateWindow = (typeof UPDATE_WINDOWS)[number]

/** In the order in which `windowOf` reads them. */
const FIELDS = [
  ...(['buy_volume', 'sell_volume', 'buys', 'sells', 'buyers', 'sellers', 'makers'] as const),
  ...(['amount', 'high', 'low', 'price_before'] as const),
] satisfies (keyof Window)[]

/** Figures of a window. */
export const WINDOW_WIDTH = FIELDS.length
export const WINDOWS_LENGTH = UPDATE_WINDOWS.length * WINDOW_WIDTH

export const EMPTY_WINDOW: Readonly<Window> = {
  ...{ buy_volume: 0, sell_volume: 0, buys: 0, sells: 0, buyers: 0, sellers: 0, makers: 0, amount: 0 },
  ...{ high: Number.NaN, low: Number.NaN, price_before: Number.NaN },
}

export const SAME_AS_MAIN_PAIR: PackedWindows = new Float64Array(0)

export function packWindows(windows: readonly Window[]): PackedWindows {
  const packed = new Float64Array(WINDOWS_LENGTH)
  UPDATE_WINDOWS.forEach((_, index) => {
    const window = windows[index] ?? EMPTY_WINDOW
    FIELDS.forEach((field, at) => {
      packed[index * WINDOW_WIDTH + at] = window[field]
    })
  })
  return packed
}

export function unpackWindows(packed: PackedWindows): Window[] {
  return packed.length === 0 ? [] : UPDATE_WINDOWS.map((name) => windowOf(packed, name))
}

export function windowOf(packed: PackedWindows, name: UpdateWindow): Window {
  const base = UPDATE_WINDOWS.indexOf(name) * WINDOW_WIDTH
  // Field by field: lists read windows of thousands of tokens.
  return {
    buy_volume: packed[base] ?? Number.NaN,
    sell_volume: packed[base + 1] ?? Number.NaN,
    buys: packed[base + 2] ?? Number.NaN,
    sells: packed[base + 3] ?? Number.NaN,
    buyers: packed[base + 4] ?? Number.NaN,
    sellers: packed[base + 5] ?? Number.NaN,
    makers: packed[base + 6] ?? Number.NaN,
    amount: packed[base + 7] ?? Number.NaN,
    high: packed[base + 8] ?? Number.NaN,
    low: packed[base + 9] ?? Number.NaN,
    price_before: packed[base + 10] ?? Number.NaN,
  }
}

/** Index of a figure, so that lists sort without unpacking windows. */
export const indexOfFigure = (window: UpdateWindow, field: (typeof FIELDS)[number]): number =>
  UPDATE_WINDOWS.indexOf(window) * WINDOW_WIDTH + FIELDS.indexOf(field)

const DAY_BUY_VOLUME = indexOfFigure('24h', 'buy_volume')
const DAY_SELL_VOLUME = indexOfFigure('24h', 'sell_volume')

export const dayVolumeUsd = (packed: PackedWindows): number =>
  Number(packed[DAY_BUY_VOLUME]) + Number(packed[DAY_SELL_VOLUME])
