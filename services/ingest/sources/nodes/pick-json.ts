/**
 * Parses only the wanted parts of JSON bytes. Node answers are long, and most of their content is unused (calldata,
 * fees, roots) or repeats (hashes, addresses, topics): the former is skipped, the latter is decoded once. Wanted parts
 * come as `JSON.parse` returns them; for the rest only its end is found.
 */
import { isAscii } from 'node:buffer'
import { copyWords, createTextCache, isSame } from './text-cache.js'

/**
 * `whole`: everything. `nothing`: undefined in its place, so that a list keeps its length. `hex`: `LowerHex` for
 * hexadecimal bytes. Or the wanted part of each list item, or of an object's fields. A value of another kind comes
 * whole.
 */
export type Wanted = 'whole' | 'nothing' | 'hex' | { items: Wanted } | ObjectWanted

/** A text verified to be 0x and whole bytes in lower case, so that it is not checked again. */
export class LowerHex {
  constructor(readonly text: string) {}
}

export type ObjectWanted = {
  fields: readonly Wanted[]
  /** Gets the fields' values in order; undefined if missing. */
  make(values: readonly unknown[]): object
  byName: ReadonlyMap<string, number>
  /** The members of the last object: the next one most likely has the same. */
  members: Member[]
}

/** The bytes before a value (comma or brace, key, colon, and the quote of a text), and the text's length. */
type Member = { lead: Int32Array; leadBytes: number; field: number; isText: boolean; length: number }

const UNWANTED = -1

export function objectOf(fields: Record<string, Wanted>, make: ObjectWanted['make']): ObjectWanted {
  const names = Object.keys(fields)
  return {
    fields: Object.values(fields),
    make,
    byName: new Map(names.map((name, place) => [name, place])),
    members: [],
  }
}

/** Throws a `SyntaxError` if it is not JSON. */
export function pickJson(bytes: Buffer, wanted: Wanted): unknown {
  // Escapes and non-ASCII need real parsing; hexadecimal answers have neither.
  if (!isAscii(bytes) || bytes.includes(BACKSLASH)) return JSON.parse(bytes.toString('utf8'))
  return new Picker(bytes).all(wanted)
}

const [QUOTE, BACKSLASH, COLON, COMMA, SPACE] = [0x22, 0x5c, 0x3a, 0x2c, 0x20]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
/** `false`, the most common word, has its own fast path. */
const [LETTER_F, ALSE] = [0x66, Buffer.from('alse').readInt32BE()]
/** Up to this distance a loop finds a quote faster than `indexOf`. */
const NEAR = 72
const texts = createTextCache()
/** Largest preallocated list; longer ones grow. */
const LONGEST_EXPECTED = 16
/** Bounds what a foreign object can make us remember. */
const [MOST_MEMBERS, LONGEST_LEAD] = [64, 64]

/** Of plain bytes: no escapes, nothing but ASCII. */
class Picker {
  private at = 0
  /** Where the last text began. */
  private from = 0
  private readonly end: number
  private readonly view: DataView

  constructor(private readonly bytes: Buffer) {
    this.end = bytes.length
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  all(wanted: Wanted): unknown {
    const value = this.value(wanted, 0)
    this.next()
    if (this.at < this.end) throw this.wrong()
    return value
  }

  /** `length`: what a text's, or a list's, is expected to be. */
  private value(wanted: Wanted, length: number): unknown {
    const code = this.next()
    if (wanted === 'nothing') return this.pass(code)
    if (code === QUOTE) {
      this.at++
      return wanted === 'hex' ? this.hex(length) : this.text(length)
    }
    if (wanted === 'whole' || wanted === 'hex') return this.whole(code)
    if ('items' in wanted) return code === OPEN_LIST ? this.list(wanted.items, length) : this.whole(code)
    return code === OPEN_OBJECT ? this.object(wanted) : this.whole(code)
  }

  private list(wanted: Wanted, expected: number): unknown[] {
    // A short list grown item by item would allocate like a long one.
    const items = new Array<unknown>(expected)
    this.at++
    let count = 0
    if (this.next() === CLOSE_LIST) this.at++
    else {
      let length = 0
      do {
        const item = this.value(wanted, length)
        if (typeof item === 'string') length = item.length
        items[count++] = item
      } while (this.hasNext(CLOSE_LIST))
    }
    items.length = count
    return items
  }

  private object(wanted: ObjectWanted): object {
    const values = new Array<unknown>(wanted.fields.length)
    for (let place = 0; ; place++) {
      const expected = wanted.members[place]
      if (expected === undefined || !this.isNext(expected)) {
        if (!this.readMember(wanted, place, values)) return wanted.make(values)
        continue
      }
      this.at += expected.leadBytes
      const { field, isText, length } = expected
      if (field === UNWANTED) this.passed(isText)
      else if (!isText) {
        const value = this.value(wanted.fields[field] ?? 'nothing', length)
        expected.length = Array.isArray(value) ? Math.min(value.length, LONGEST_EXPECTED) : 0
        values[field] = value
      } else {
        const text = wanted.fields[field] === 'hex' ? this.hex(length) : this.text(length)
        expected.length = this.at - this.from - 1
        values[field] = text
      }
    }
  }

  private isNext({ lead, leadBytes }: Member): boolean {
    const to = this.at + leadBytes
    return to < this.end && isSame(this.view, this.at, to, lead, 0)
  }

  private passed(isText: boolean): void {
    if (isText) this.at = this.quoteFrom(this.at, 0) + 1
    else this.pass(this.next())
  }

  /** Reads a member and remembers its form for the next object; false if the object ends here. */
  private readMember(wanted: ObjectWanted, place: number, values: unknown[]): boolean {
    const code = this.next()
    const from = this.at++
    if (place > 0 && code === CLOSE_OBJECT) return false
    if (code !== (place === 0 ? OPEN_OBJECT : COMMA)) throw this.wrong()
    if (this.next() !== QUOTE) {
      if (place > 0 || this.next() !== CLOSE_OBJECT) throw this.wrong()
      this.at++
      return false
    }
    this.at++
    const field = wanted.byName.get(this.text(0)) ?? UNWANTED
    if (this.next() !== COLON) throw this.wrong()
    this.at++
    const isText = this.next() === QUOTE
    const leadBytes = this.at + (isText ? 1 : 0) - from
    if (place < MOST_MEMBERS && leadBytes <= LONGEST_LEAD) {
      const lead = new Int32Array(LONGEST_LEAD / 4)
      copyWords(this.view, from, from + leadBytes, lead, 0)
      wanted.members[place] = { lead, leadBytes, field, isText, length: 0 }
    }
    const value = this.value(field === UNWANTED ? 'nothing' : (wanted.fields[field] ?? 'nothing'), 0)
    if (field !== UNWANTED) values[field] = value
    return true
  }

  /** Starts after the opening quote. */
  private text(length: number): string {
    const from = this.at
    this.from = from
    const guess = from + length
    if (guess < this.end && this.bytes[guess] === QUOTE) {
      const known = texts.known(this.view, from, guess)
      if (known !== undefined) {
        this.at = guess + 1
        return known
      }
    }
    const to = this.quoteFrom(from, length)
    this.at = to + 1
    const text = this.bytes.toString('latin1', from, to)
    texts.keep(text, this.view, from)
    return text
  }

  private hex(length: number): LowerHex | string {
    const from = this.at
    const to = endOfLowerHex(this.view, from, this.end)
    if (to === from || to === this.end || this.bytes[to] !== QUOTE || (to - from) % 2 !== 0) return this.text(length)
    this.from = from
    this.at = to + 1
    return new LowerHex(this.bytes.toString('latin1', from, to))
  }

  private quoteFrom(from: number, length: number): number {
    const { bytes } = this
    const near = length > NEAR ? from : Math.min(this.end, from + NEAR)
    for (let at = from; at < near; at++) if (bytes[at] === QUOTE) return at
    const found = bytes.indexOf(QUOTE, near)
    if (found < 0) throw this.wrong()
    return found
  }

  private whole(code: number): unknown {
    const from = this.at
    this.pass(code)
    if (code === LETTER_F && this.at - from === 5 && this.view.getInt32(from + 1) === ALSE) return false
    return JSON.parse(this.bytes.toString('latin1', from, this.at))
  }

  /** Skips the value that begins here. */
  private pass(code: number): undefined {
    if (code === QUOTE) this.at = this.quoteFrom(this.at + 1, 0) + 1
    else if (code === OPEN_LIST || code === OPEN_OBJECT) this.passNested()
    else this.passWord()
  }

  private passNested(): void {
    let depth = 0
    do {
      const code = this.next()
      if (code === QUOTE) {
        this.at = this.quoteFrom(this.at + 1, 0) + 1
        continue
      }
      if (code === OPEN_LIST || code === OPEN_OBJECT) depth++
      else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--
      else if (code === 0) throw this.wrong()
      this.at++
    } while (depth > 0)
  }

  /** A number, true, false or null. */
  private passWord(): void {
    const from = this.at
    while (this.at < this.end && isOfWord(this.bytes[this.at] ?? 0)) this.at++
    if (this.at === from) throw this.wrong()
  }

  /** After an item: whether another follows. */
  private hasNext(close: number): boolean {
    const code = this.next()
    if (code !== COMMA && code !== close) throw this.wrong()
    this.at++
    return code === COMMA
  }

  /** The next non-blank character; 0 at the end. */
  private next(): number {
    while (this.at < this.end) {
      const code = this.bytes[this.at] ?? 0
      if (code > SPACE) return code
      this.at++
    }
    return 0
  }

  private wrong(): SyntaxError {
    return new SyntaxError(`not JSON at byte ${this.at} of ${this.end}`)
  }
}

const isOfWord = (code: number): boolean =>
  code > SPACE && code !== COMMA && code !== CLOSE_LIST && code !== CLOSE_OBJECT && code !== COLON

const HEX_PREFIX = 0x3078
const [DIGITS, LETTERS_MORE] = [0x30303030, 0x30]

/** Where a run of 0x and digits ends; `from` where there is none. */
export function endOfLowerHex(bytes: DataView, from: number, end: number): number {
  if (end - from < 2 || bytes.getInt16(from) !== HEX_PREFIX) return from
  let at = from + 2
  while (at + 4 <= end && wrongIn(bytes.getInt32(at)) === 0) at += 4
  // The rest of it byte by byte, with zeros before.
  while (at < end && wrongIn((DIGITS & ~0xff) | bytes.getUint8(at)) === 0) at++
  return at
}

/** 0 where each of its bytes is 0 to 9 (0x30 to 0x39) or a to f (0x61 to 0x66). */
function wrongIn(four: number): number {
  /** 1 in each byte that must be a letter. */
  const letters = (four >>> 6) & 0x01010101
  const low = four & 0x0f0f0f0f
  const upper = (four & 0xf0f0f0f0) ^ (DIGITS + letters * LETTERS_MORE)
  const tooHigh = (low + 0x06060606 + letters * 3) & 0x10101010
  const tooLow = ~(low + 0x0f0f0f0f) & (letters << 4)
  return upper | tooHigh | tooLow
}
