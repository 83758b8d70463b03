/**
 * The newest row of each key as a few numbers, since a month's rows do not fit into memory. Two keys may have the same hash: what
 * differs here is compared again, row by row.
 */
import { type Cell, RowWriter } from '../../core/store/row-binary.js'
import { COMPARED_TABLES, type ComparedTable, keyOf, type Places, placesOf, type Row } from './compared-tables.js'

/** Two words of 32 bits. */
export type KeyHash = readonly [high: number, low: number]

const FIRST_CAPACITY = 1024
const MOST_LOAD = 0.75
/** In the place of a print. */
const FREE = 0
const DELETED = 1
const TAKEN = 2
const FIRST_PRINT = 3
/** A print fits into a double. */
const PRINT_HIGH = 2 ** 20
const WORD = 2 ** 32

/** Of one table. */
export class RowPrints {
  private size = 0
  private highs = new Uint32Array(FIRST_CAPACITY)
  private lows = new Uint32Array(FIRST_CAPACITY)
  private prints = new Float64Array(FIRST_CAPACITY)
  private versions = new Float64Array(FIRST_CAPACITY)
  private readonly places: Places
  private readonly writer: RowWriter

  constructor(table: ComparedTable) {
    this.places = placesOf(table)
    this.writer = new RowWriter(table)
  }

  add(row: Row): void {
    const version = Number(row[this.places.version])
    const slot = this.slotOf(hashOf(keyOf(row, this.places)))
    if (this.prints[slot] !== FREE && (this.versions[slot] as number) > version) return
    this.prints[slot] = row[this.places.deleted] === 1 ? DELETED : this.printOf(row)
    this.versions[slot] = version
  }

  /** True if it is the newest row of its key; asked once for a key. */
  takes(row: Row): boolean {
    const slot = this.find(hashOf(keyOf(row, this.places)))
    const print = this.prints[slot] as number
    if (print !== FREE) this.prints[slot] = TAKEN
    return print === this.printOf(row)
  }

  /** Keys of newest rows that were not asked for. */
  *left(): Generator<KeyHash> {
    for (let slot = 0; slot < this.prints.length; slot += 1) {
      if ((this.prints[slot] as number) < FIRST_PRINT) continue
      yield [this.highs[slot] as number, this.lows[slot] as number]
    }
  }

  /** The bytes of a row are the same for JSON's cells and for those that were inserted. */
  private printOf(row: Row): number {
    this.writer.clear()
    this.writer.row(row as readonly Cell[])
    const [high, low] = hashOfBytes(this.writer.finish())
    return FIRST_PRINT + (high % PRINT_HIGH) * WORD + low
  }

  /** The key's slot, which is free if there is none yet. */
  private find([high, low]: KeyHash): number {
    const last = this.prints.length - 1
    for (let slot = low & last; ; slot = (slot + 1) & last) {
      if (this.prints[slot] === FREE || (this.lows[slot] === low && this.highs[slot] === high)) return slot
    }
  }

  /** The same, taken for the key. */
  private slotOf(hash: KeyHash): number {
    if (this.size >= MOST_LOAD * this.prints.length) this.grow()
    const slot = this.find(hash)
    if (this.prints[slot] !== FREE) return slot
    this.size += 1
    this.highs[slot] = hash[0]
    this.lows[slot] = hash[1]
    return slot
  }

  private grow(): void {
    const { highs, lows, prints, versions } = this
    const capacity = 2 * prints.length
    this.highs = new Uint32Array(capacity)
    this.lows = new Uint32Array(capacity)
    this.prints = new Float64Array(capacity)
    this.versions = new Float64Array(capacity)
    for (let from = 0; from < prints.length; from += 1) {
      if (prints[from] === FREE) continue
      const to = this.find([highs[from] as number, lows[from] as number])
      this.highs[to] = highs[from] as number
      this.lows[to] = lows[from] as number
      this.prints[to] = prints[from] as number
      this.versions[to] = versions[from] as number
    }
  }
}

export class ExpectedRows {
  private readonly tables = new Map(COMPARED_TABLES.map((table) => [table, new RowPrints(table)]))

  of(table: ComparedTable): RowPrints {
    return this.tables.get(table) as RowPrints
  }
}

export function hashOf(text: string): KeyHash {
  let high = text.length
  let low = ~text.length
  for (let at = 0; at < text.length; at += 2) {
    const word = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16)
    high = mixHigh(high, word)
    low = mixLow(low, word)
  }
  return [finished(high), finished(low)]
}

function hashOfBytes(bytes: Uint8Array): KeyHash {
  let high = bytes.length
  let low = ~bytes.length
  for (let at = 0; at < bytes.length; at += 4) {
    const half = (bytes[at] as number) | ((bytes[at + 1] as number) << 8)
    const word = half | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)
    high = mixHigh(high, word)
    low = mixLow(low, word)
  }
  return [finished(high), finished(low)]
}

/**
 * MurmurHash3 for 32 bits (A. Appleby, public domain), with two sets of constants. Each step is a bijection of the hash and of the
 * word: what differs in a single word never has the same hash.
 */
const mixHigh = (hash: number, word: number): number =>
  (Math.imul(rotated(hash ^ Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593), 13), 5) + 0xe6546b64) | 0
const mixLow = (hash: number, word: number): number =>
  (Math.imul(rotated(hash ^ Math.imul(rotated(Math.imul(word, 0x239b961b), 16), 0xab0e9789), 19), 5) + 0x561ccd1b) | 0

const rotated = (word: number, by: number): number => (word << by) | (word >>> (32 - by))

function finished(word: number): number {
  const once = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return (twice ^ (twice >>> 16)) >>> 0
}
