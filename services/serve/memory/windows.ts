import { WINDOWS, type WindowName } from '../../core/domain/chains.js'
import type { Window } from '../../core/domain/records.js'

/** Windows of a pair or token in one flat array: eleven numbers a window, a tenth of the memory of six objects. */
export type PackedWindows = Float64Array

const FIELDS = [
  ...(['buy_volume', 'sell_volume', 'buys', 'sells', 'buyers', 'sellers', 'makers'] as const),
  ...(['amount', 'high', 'low', 'price_before'] as const),
] satisfies (keyof Window)[]

const EMPTY: Window = {
  ...{ buy_volume: 0, sell_volume: 0, buys: 0, sells: 0, buyers: 0, sellers: 0, makers: 0, amount: 0 },
  ...{ high: Number.NaN, low: Number.NaN, price_before: Number.NaN },
}

export function packWindows(windows: readonly Window[]): PackedWindows {
  const packed = new Float64Array(WINDOWS.length * FIELDS.length)
  WINDOWS.forEach((_, index) => {
    const window = windows[index] ?? EMPTY
    FIELDS.forEach((field, at) => {
      packed[index * FIELDS.length + at] = window[field]
    })
  })
  return packed
}

export function windowOf(packed: PackedWindows, name: WindowName): Window {
  const base = WINDOWS.indexOf(name) * FIELDS.length
  const window = { ...EMPTY }
  FIELDS.forEach((field, at) => {
    window[field] = packed[base + at] ?? Number.NaN
  })
  return window
}
