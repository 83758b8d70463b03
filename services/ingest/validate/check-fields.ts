/**
 * Reads the fields of a JSON object into the types of the log. Keeps the first problem and throws none: a bad field costs its
 * event, never the process.
 */
import { cutText } from '../../core/domain/name-text.js'

export type DeadReason =
  | 'not_utf8'
  | 'malformed_json'
  | 'line_too_long'
  | 'not_a_record'
  | 'unknown_kind'
  | 'bad_chain'
  | 'missing_field'
  | 'wrong_type'
  | 'out_of_range'
  | 'not_an_integer'
  | 'precision_lost'
  | 'too_long'
  | 'unknown_event'
  | 'same_token'
  | 'duplicate_event'
  | 'unencodable'

export type Problem = { reason: DeadReason; detail: string }

export const INT_MAX = 2 ** 31 - 1
const UINT256_MAX = 2n ** 256n - 1n
/** Fewer digits always fit. */
const SURE_DIGITS = 77
const UNSIGNED = /^\d+$/
const SIGNED = /^-?\d+$/
/** Addresses, hashes and protocol names: printable ASCII without spaces. */
const IDENTIFIER = /^[\x21-\x7e]+$/
const IDENTIFIER_MAX = 128

export class Fields {
  problem: Problem | undefined

  constructor(
    private readonly object: Record<string, unknown>,
    private readonly lowerCase: boolean,
  ) {}

  refuse(reason: DeadReason, detail: string): void {
    this.problem ??= { reason, detail }
  }

  isAbsent(name: string): boolean {
    const value = this.object[name]
    return value === undefined || value === null
  }

  /** A whole number between 0 (or `min`) and `max`. */
  integer(name: string, max: number, min = 0): number {
    const value = this.object[name]
    if (typeof value !== 'number') return this.missingOr(name, 'a whole number', min)
    if (!Number.isInteger(value)) this.refuse('wrong_type', `"${name}" must be a whole number, got ${value}`)
    else if (value < min || value > max)
      this.refuse('out_of_range', `"${name}" must be from ${min} to ${max}, got ${value}`)
    return value
  }

  integerOr(name: string, max: number, fallback: number): number {
    return this.isAbsent(name) ? fallback : this.integer(name, max)
  }

  optionalInteger(name: string, max: number): number | null {
    return this.isAbsent(name) ? null : this.integer(name, max)
  }

  /** A raw integer: decimal text, or a JSON number small enough to be exact. */
  amount(name: string): string {
    return this.bigInteger(name, UNSIGNED, 'a raw amount (a whole number, 0 or more, as text)')
  }

  optionalAmount(name: string): string | null {
    return this.isAbsent(name) ? null : this.amount(name)
  }

  optionalDelta(name: string): string | null {
    return this.isAbsent(name) ? null : this.bigInteger(name, SIGNED, 'a raw change (a whole number as text)')
  }

  private bigInteger(name: string, pattern: RegExp, wanted: string): string {
    const value = this.object[name]
    if (typeof value === 'number') {
      // A larger number was rounded when it was written or parsed: its digits are not exact.
      if (Number.isInteger(value) && !Number.isSafeInteger(value))
        this.refuse('precision_lost', `"${name}" is a JSON number above 2^53 and not exact; write it as text`)
      else if (!pattern.test(String(value))) this.refuseNumber(name, wanted, String(value))
      return String(value)
    }
    if (typeof value !== 'string') return this.missingOr(name, wanted, '0')
    if (!pattern.test(value)) {
      this.refuseNumber(name, wanted, value)
      return '0'
    }
    if (value.length <= SURE_DIGITS && value.charCodeAt(0) > 48) return value
    return this.canonical(name, value)
  }

  private refuseNumber(name: string, wanted: string, text: string): void {
    const reason = SIGNED.test(text) ? 'out_of_range' : 'not_an_integer'
    this.refuse(reason, `"${name}" must be ${wanted}, got ${describeValue(text)}`)
  }

  /** Without leading zeros, within 256 bits. */
  private canonical(name: string, text: string): string {
    const negative = text.startsWith('-')
    const digits = text.slice(negative ? 1 : 0).replace(/^0+(?=\d)/, '')
    if (digits.length > SURE_DIGITS + 1 || BigInt(digits) > UINT256_MAX) {
      this.refuse('out_of_range', `"${name}" does not fit in 256 bits (${digits.length} digits)`)
      return '0'
    }
    return negative && digits !== '0' ? `-${digits}` : digits
  }

  /** An address, hash or signature, in the chain's case. */
  id(name: string): string {
    const value = this.identifier(name)
    return this.lowerCase ? value.toLowerCase() : value
  }

  optionalId(name: string): string | null {
    return this.isAbsent(name) ? null : this.id(name)
  }

  /** A party of an event: `""` if the chain does not have it. */
  party(name: string): string {
    return this.object[name] === '' ? '' : this.id(name)
  }

  /** An identifier; its case is kept. */
  identifier(name: string): string {
    const value = this.object[name]
    if (typeof value !== 'string') return this.missingOr(name, 'a text', '')
    if (value.length > IDENTIFIER_MAX)
      this.refuse('too_long', `"${name}" has ${value.length} characters, at most ${IDENTIFIER_MAX} fit`)
    else if (!IDENTIFIER.test(value))
      this.refuse('wrong_type', `"${name}" must be printable ASCII without spaces, got ${describeValue(value)}`)
    return value
  }

  optionalText(name: string, maxLength: number): string | null {
    if (this.isAbsent(name)) return null
    const value = this.object[name]
    if (typeof value !== 'string') return this.missingOr(name, 'a text', '')
    if (value.length > maxLength)
      this.refuse('too_long', `"${name}" has ${value.length} characters, at most ${maxLength} fit`)
    return value
  }

  /** A text that says nothing about what follows: cut, not refused. */
  cutText(name: string, maxLength: number): string | null {
    if (this.isAbsent(name)) return null
    const value = this.object[name]
    return typeof value === 'string' ? cutText(value, maxLength) : this.missingOr(name, 'a text', '')
  }

  /** A JSON object or its text; text on the log. */
  optionalJson(name: string, maxLength: number): string | null {
    if (this.isAbsent(name)) return null
    const value = this.object[name]
    const text = typeof value === 'string' ? value : jsonOf(value)
    if (text === undefined || !isObject(typeof value === 'string' ? parsed(text) : value)) {
      this.refuse('wrong_type', `"${name}" must be a JSON object, or the text of one`)
      return null
    }
    if (text.length > maxLength)
      this.refuse('too_long', `"${name}" has ${text.length} characters, at most ${maxLength} fit`)
    return text
  }

  oneOf<Word extends string>(name: string, words: readonly Word[]): Word {
    const value = this.object[name]
    const word = words.find((candidate) => candidate === value)
    if (word !== undefined) return word
    const first = words[0] as Word
    if (this.isAbsent(name)) return this.missingOr(name, words.join(', '), first)
    this.refuse('wrong_type', `"${name}" must be one of ${words.join(', ')}, got ${describeValue(value)}`)
    return first
  }

  /** Any finite number. */
  double(name: string): number {
    const value = this.object[name]
    return typeof value === 'number' && Number.isFinite(value) ? value : this.missingOr(name, 'a number', 0)
  }

  optionalBoolean(name: string): boolean | null {
    return this.isAbsent(name) ? null : this.boolean(name)
  }

  boolean(name: string): boolean {
    const value = this.object[name]
    return typeof value === 'boolean' ? value : this.missingOr(name, 'true or false', false)
  }

  list(name: string): readonly unknown[] {
    const value = this.object[name]
    return Array.isArray(value) ? value : this.missingOr(name, 'a list', [])
  }

  private missingOr<T>(name: string, wanted: string, fallback: T): T {
    const value = this.object[name]
    if (value === undefined || value === null) this.refuse('missing_field', `"${name}" is missing`)
    else this.refuse('wrong_type', `"${name}" must be ${wanted}, got ${describeValue(value)}`)
    return fallback
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function describeValue(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}

/** Undefined if it cannot be written, such as when it is nested deeper than the stack. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
