/**
 * Packed candles and windows as bytes; docs/topics.md specifies both. A figure equal to the same figure of the item before is not
 * written: a bit says which ones follow. The same numbers always give the same bytes.
 */
import { INTERVALS } from '../domain/chains.js'
import { AT, CANDLE_WIDTH, candleCount, FIRST_FIGURE } from '../domain/packed-candles.js'
import { SAME_AS_MAIN_PAIR, WINDOW_WIDTH, WINDOWS_LENGTH } from '../domain/packed-windows.js'
import type { VisitPlace } from '../domain/pair-events.js'

export type PackedForm = {
  /** True for what can be written: whole candles, and all windows or none. */
  accepts(value: unknown): boolean
  /** How many bytes `write` takes, which must be called next with the same numbers. */
  prepare(packed: Float64Array): number
  /** The view has room for these bytes from `at`. */
  write(packed: Float64Array, view: DataView, at: number): void
  /** Throws on bytes that no writer makes. */
  read(view: DataView, at: number, end: number): Float64Array
}

const DOUBLE = 8

/**
 * Where an item has its figures, how many bytes come before them, what the first item's figures are compared with, and the bits of
 * all figures.
 */
type Layout = { width: number; firstFigure: number; headBytes: number; initial: number; allBits: number }

const bitsOf = (figures: number): number => 2 ** figures - 1

/** Per candle: interval (+ 128: removed), three bytes of bits, time, and the figures that changed. */
const CANDLE: Layout = {
  width: CANDLE_WIDTH,
  firstFigure: FIRST_FIGURE,
  headBytes: 4 + DOUBLE,
  initial: Number.NaN,
  allBits: bitsOf(CANDLE_WIDTH - FIRST_FIGURE),
}
const REMOVED = 128

/** Per window: two bytes of bits, and the figures that changed. */
const WINDOW: Layout = {
  width: WINDOW_WIDTH,
  firstFigure: 0,
  headBytes: 2,
  initial: 0,
  allBits: bitsOf(WINDOW_WIDTH),
}

export const candlesForm: PackedForm = {
  accepts: (value) => value instanceof Float64Array && Number.isInteger(candleCount(value)),
  prepare: (packed) => prepareItems(packed, CANDLE),
  write(packed, view, start) {
    let to = start
    for (let at = 0, item = 0; at < packed.length; at += CANDLE_WIDTH, item += 1) {
      const bits = prepared[item] as number
      view.setUint8(to, (packed[at + AT.interval] as number) + (packed[at + AT.removed] === 1 ? REMOVED : 0))
      view.setUint8(to + 1, bits & 0xff)
      view.setUint16(to + 2, bits >>> 8, true)
      view.setFloat64(to + 4, packed[at + AT.timeS] as number, true)
      to = writeFigures(packed, at + FIRST_FIGURE, bits, view, to + CANDLE.headBytes)
    }
  },
  read(view, start, end) {
    const packed = new Float64Array(countCandles(view, start, end) * CANDLE_WIDTH)
    let from = start
    for (let at = 0; at < packed.length; at += CANDLE_WIDTH) {
      const head = view.getUint8(from)
      packed[at + AT.interval] = head & ~REMOVED
      packed[at + AT.removed] = head >= REMOVED ? 1 : 0
      packed[at + AT.timeS] = view.getFloat64(from + 4, true)
      from = readFigures(view, from + CANDLE.headBytes, candleBitsAt(view, from), packed, at, CANDLE)
    }
    return packed
  },
}

/** Calls with the place of each candle of bytes that a writer made, without reading its figures. */
export function visitCandles(view: DataView, start: number, end: number, visit: VisitPlace): void {
  let from = start
  for (let index = 0; from < end; index += 1) {
    const head = view.getUint8(from)
    visit(index, head & ~REMOVED, view.getFloat64(from + 4, true), head >= REMOVED)
    from += CANDLE.headBytes + DOUBLE * ones(candleBitsAt(view, from))
  }
}

function candleBitsAt(view: DataView, from: number): number {
  return view.getUint8(from + 1) | (view.getUint16(from + 2, true) << 8)
}

/** Throws on bytes that no writer makes. */
export function countCandles(view: DataView, start: number, end: number): number {
  let count = 0
  let from = start
  for (; from < end; count += 1) {
    if (from + CANDLE.headBytes > end) throw new Error('candles end within a candle')
    const bits = candleBitsAt(view, from)
    const interval = view.getUint8(from) & ~REMOVED
    if (interval >= INTERVALS.length) throw new Error(`a candle has unknown interval ${interval}`)
    if (bits > CANDLE.allBits) throw new Error('a candle has unknown figures')
    from += CANDLE.headBytes + DOUBLE * ones(bits)
  }
  if (from !== end) throw new Error('candles end within a candle')
  return count
}

export const windowsForm: PackedForm = {
  accepts: (value) => value instanceof Float64Array && (value.length === 0 || value.length === WINDOWS_LENGTH),
  prepare: (packed) => prepareItems(packed, WINDOW),
  write(packed, view, start) {
    let to = start
    for (let at = 0, item = 0; at < packed.length; at += WINDOW_WIDTH, item += 1) {
      const bits = prepared[item] as number
      view.setUint16(to, bits, true)
      to = writeFigures(packed, at, bits, view, to + WINDOW.headBytes)
    }
  },
  read(view, start, end) {
    if (start === end) return SAME_AS_MAIN_PAIR
    const packed = new Float64Array(WINDOWS_LENGTH)
    let from = start
    for (let at = 0; at < WINDOWS_LENGTH; at += WINDOW_WIDTH) {
      if (from + WINDOW.headBytes > end) throw new Error('windows end too early')
      const bits = view.getUint16(from, true)
      from += WINDOW.headBytes
      if (bits > WINDOW.allBits || from + DOUBLE * ones(bits) > end) throw new Error('windows end too early')
      from = readFigures(view, from, bits, packed, at, WINDOW)
    }
    if (from !== end) throw new Error('windows end too late')
    return packed
  },
}

/** Of the items that are to be written: which figures follow. */
const prepared: number[] = []

function prepareItems(packed: Float64Array, layout: Layout): number {
  let bytes = 0
  prepared.length = 0
  for (let at = 0; at < packed.length; at += layout.width) {
    const bits = changedBits(packed, at, layout)
    prepared.push(bits)
    bytes += layout.headBytes + DOUBLE * ones(bits)
  }
  return bytes
}

/** Which figures differ from those of the item before. */
function changedBits(packed: Float64Array, at: number, { width, firstFigure, initial }: Layout): number {
  let bits = 0
  for (let n = 0; n < width - firstFigure; n += 1) {
    const to = at + firstFigure + n
    const before = at === 0 ? initial : (packed[to - width] as number)
    if (!Object.is(packed[to], before)) bits |= 1 << n
  }
  return bits
}

/** Returns the position after the figures. */
function readFigures(
  view: DataView,
  start: number,
  bits: number,
  packed: Float64Array,
  at: number,
  { width, firstFigure, initial }: Layout,
): number {
  let from = start
  for (let n = 0; n < width - firstFigure; n += 1) {
    const to = at + firstFigure + n
    if ((bits & (1 << n)) === 0) packed[to] = at === 0 ? initial : (packed[to - width] as number)
    else {
      packed[to] = view.getFloat64(from, true)
      from += DOUBLE
    }
  }
  return from
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

/** How many bits are set: summed in pairs, fours, bytes (H. Warren, Hacker's Delight, 5-1). */
function ones(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

let viewed: Uint8Array | undefined
let view: DataView = new DataView(new ArrayBuffer(0))

/** The same bytes are read or written field after field. */
export function viewOf(bytes: Uint8Array): DataView {
  if (viewed !== bytes) {
    viewed = bytes
    view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
  return view
}
