/**
 * Packed candles and windows as bytes; docs/topics.md specifies both. A figure equal to the same figure of the item before is not
 * written: a bit says which ones follow. The same numbers always give the same bytes.
 */
import { INTERVALS } from '../domain/chains.js'
import { AT, CANDLE_WIDTH, candleCount, FIRST_FIGURE, type PackedCandles } from '../domain/packed-candles.js'
import { type PackedWindows, WINDOW_WIDTH, WINDOWS_LENGTH } from '../domain/packed-windows.js'

export type PackedForm = {
  /** How many bytes `write` takes, which must be called next with the same numbers. */
  prepare(packed: Float64Array): number
  /** The view has room for these bytes from `at`. */
  write(packed: Float64Array, view: DataView, at: number): void
  /** Throws on bytes that no writer makes. */
  read(view: DataView, at: number, end: number): Float64Array
}

const DOUBLE = 8

/** Of the items that are to be written: which figures follow. */
const prepared: number[] = []

/** Per candle: interval (+ 128: removed), three bytes of bits, time, and the figures that changed. */
const CANDLE_HEAD = 4 + DOUBLE
const CANDLE_FIGURES = CANDLE_WIDTH - FIRST_FIGURE
const REMOVED = 128
const ALL_CANDLE_BITS = 2 ** CANDLE_FIGURES - 1

export const candlesForm: PackedForm = {
  prepare(packed: PackedCandles) {
    let bytes = 0
    prepared.length = 0
    for (let at = 0; at < packed.length; at += CANDLE_WIDTH) {
      const bits = candleBits(packed, at)
      prepared.push(bits)
      bytes += CANDLE_HEAD + DOUBLE * ones(bits)
    }
    return bytes
  },
  write(packed, view, start) {
    let to = start
    for (let at = 0, item = 0; at < packed.length; at += CANDLE_WIDTH, item += 1) {
      const bits = prepared[item] as number
      view.setUint8(to, (packed[at + AT.interval] as number) + (packed[at + AT.removed] === 1 ? REMOVED : 0))
      view.setUint8(to + 1, bits & 0xff)
      view.setUint16(to + 2, bits >>> 8, true)
      view.setFloat64(to + 4, packed[at + AT.timeS] as number, true)
      to = writeFigures(packed, at + FIRST_FIGURE, bits, view, to + CANDLE_HEAD)
    }
  },
  read(view, start, end) {
    const packed = new Float64Array(countCandles(view, start, end) * CANDLE_WIDTH)
    let from = start
    for (let at = 0; at < packed.length; at += CANDLE_WIDTH) {
      const head = view.getUint8(from)
      const bits = candleBitsAt(view, from)
      packed[at + AT.interval] = head & ~REMOVED
      packed[at + AT.removed] = head >= REMOVED ? 1 : 0
      packed[at + AT.timeS] = view.getFloat64(from + 4, true)
      from += CANDLE_HEAD
      for (let n = 0; n < CANDLE_FIGURES; n += 1) {
        const to = at + FIRST_FIGURE + n
        if ((bits & (1 << n)) === 0) packed[to] = at === 0 ? Number.NaN : (packed[to - CANDLE_WIDTH] as number)
        else {
          packed[to] = view.getFloat64(from, true)
          from += DOUBLE
        }
      }
    }
    return packed
  },
}

/** Which figures differ from those of the candle before; from NaN for the first. */
function candleBits(packed: PackedCandles, at: number): number {
  let bits = 0
  for (let n = 0; n < CANDLE_FIGURES; n += 1) {
    const to = at + FIRST_FIGURE + n
    const before = at === 0 ? Number.NaN : (packed[to - CANDLE_WIDTH] as number)
    if (!Object.is(packed[to], before)) bits |= 1 << n
  }
  return bits
}

function candleBitsAt(view: DataView, from: number): number {
  return view.getUint8(from + 1) | (view.getUint16(from + 2, true) << 8)
}

function countCandles(view: DataView, start: number, end: number): number {
  let count = 0
  let from = start
  for (; from < end; count += 1) {
    if (from + CANDLE_HEAD > end) throw new Error('candles end within a candle')
    const bits = candleBitsAt(view, from)
    const interval = view.getUint8(from) & ~REMOVED
    if (interval >= INTERVALS.length) throw new Error(`a candle has unknown interval ${interval}`)
    if (bits > ALL_CANDLE_BITS) throw new Error('a candle has unknown figures')
    from += CANDLE_HEAD + DOUBLE * ones(bits)
  }
  if (from !== end) throw new Error('candles end within a candle')
  return count
}

/** Per window: two bytes of bits, and the figures that changed. */
const WINDOW_HEAD = 2
const ALL_WINDOW_BITS = 2 ** WINDOW_WIDTH - 1

export const windowsForm: PackedForm = {
  prepare(packed: PackedWindows) {
    let bytes = 0
    prepared.length = 0
    for (let at = 0; at < packed.length; at += WINDOW_WIDTH) {
      const bits = windowBits(packed, at)
      prepared.push(bits)
      bytes += WINDOW_HEAD + DOUBLE * ones(bits)
    }
    return bytes
  },
  write(packed, view, start) {
    let to = start
    for (let at = 0, item = 0; at < packed.length; at += WINDOW_WIDTH, item += 1) {
      const bits = prepared[item] as number
      view.setUint16(to, bits, true)
      to = writeFigures(packed, at, bits, view, to + WINDOW_HEAD)
    }
  },
  read(view, start, end) {
    if (start === end) return new Float64Array(0)
    const packed = new Float64Array(WINDOWS_LENGTH)
    let from = start
    for (let at = 0; at < WINDOWS_LENGTH; at += WINDOW_WIDTH) {
      if (from + WINDOW_HEAD > end) throw new Error('windows end too early')
      const bits = view.getUint16(from, true)
      from += WINDOW_HEAD
      if (bits > ALL_WINDOW_BITS || from + DOUBLE * ones(bits) > end) throw new Error('windows end too early')
      for (let n = 0; n < WINDOW_WIDTH; n += 1) {
        if ((bits & (1 << n)) === 0) packed[at + n] = at === 0 ? 0 : (packed[at + n - WINDOW_WIDTH] as number)
        else {
          packed[at + n] = view.getFloat64(from, true)
          from += DOUBLE
        }
      }
    }
    if (from !== end) throw new Error('windows end too late')
    return packed
  },
}

/** Which figures differ from those of the window before; from 0 for the first. */
function windowBits(packed: PackedWindows, at: number): number {
  let bits = 0
  for (let n = 0; n < WINDOW_WIDTH; n += 1) {
    const before = at === 0 ? 0 : packed[at + n - WINDOW_WIDTH]
    if (!Object.is(packed[at + n], before)) bits |= 1 << n
  }
  return bits
}

/** A NaN's bits depend on how the code that made it was compiled: all are written alike. */
const NAN_HIGH_WORD = 0x7ff80000

function writeFigures(packed: Float64Array, first: number, bits: number, view: DataView, start: number): number {
  let to = start
  for (let n = 0; bits >>> n !== 0; n += 1) {
    if ((bits & (1 << n)) === 0) continue
    const figure = packed[first + n] as number
    if (Number.isNaN(figure)) {
      view.setUint32(to, 0, true)
      view.setUint32(to + 4, NAN_HIGH_WORD, true)
    } else view.setFloat64(to, figure, true)
    to += DOUBLE
  }
  return to
}

function ones(bits: number): number {
  let count = 0
  for (let left = bits; left !== 0; left &= left - 1) count += 1
  return count
}

/** True for what the forms can write: whole candles, and all windows or none. */
export const isCandles = (value: unknown): boolean =>
  value instanceof Float64Array && Number.isInteger(candleCount(value))
export const isWindows = (value: unknown): boolean =>
  value instanceof Float64Array && (value.length === 0 || value.length === WINDOWS_LENGTH)
