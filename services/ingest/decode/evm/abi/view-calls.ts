/**
 * Calls of view functions, and their decoded answers. Answers are untrusted: one that does not fit its type is null,
 * never an error.
 */

import type { Call } from '../protocol.js'
import * as words from './abi-words.js'

export type Answer = string | null | undefined

/** `selector` from `selectorOf`, then its arguments, each encoded by one of the functions below. */
export function callOf(to: string, selector: string, ...args: readonly string[]): Call {
  return { to, data: selector + args.join('') }
}

export function addressWord(address: string): string {
  return address.slice(2).padStart(64, '0')
}

export function uintWord(value: bigint | number): string {
  return BigInt(value).toString(16).padStart(64, '0')
}

export function intWord(value: bigint | number): string {
  return uintWord(BigInt.asUintN(256, BigInt(value)))
}

export function boolWord(value: boolean): string {
  return uintWord(value ? 1 : 0)
}

export function bytes32Word(value: string): string {
  return value.slice(2)
}

/** `word`: index among the answer's words. Longer answers are fine: proxies and newer versions append. */
export function answeredUint(answer: Answer, word = 0, bits = 256): bigint | null {
  return read(answer, (body) => words.uintOf(body, words.wordAt(body, 0, word), bits))
}

export function answeredInt(answer: Answer, word = 0, bits = 256): bigint | null {
  return read(answer, (body) => words.intOf(body, words.wordAt(body, 0, word), bits))
}

export function answeredAddress(answer: Answer, word = 0): string | null {
  return read(answer, (body) => words.addressOf(body, words.wordAt(body, 0, word)))
}

export function answeredBool(answer: Answer, word = 0): boolean | null {
  return read(answer, (body) => words.boolOf(body, words.wordAt(body, 0, word)))
}

export function answeredBytes32(answer: Answer, word = 0): string | null {
  return read(answer, (body) => words.bytes32Of(body, words.wordAt(body, 0, word)))
}

/** Bytes of a dynamic `bytes` or `string`, as digits without `0x`. */
export function answeredBytes(answer: Answer, word = 0): string | null {
  return read(answer, (body) => words.bytesOf(body, 0, word))
}

export function answeredUints(answer: Answer, word = 0, bits = 256): bigint[] | null {
  return read(answer, (body) => words.wordsOf(body, 0, word).map((at) => words.uintOf(body, at, bits)))
}

export function answeredAddresses(answer: Answer, word = 0): string[] | null {
  return read(answer, (body) => words.wordsOf(body, 0, word).map((at) => words.addressOf(body, at)))
}

/** The first `width` words of each tuple in the array that is the answer; `isDynamic`: a tuple has a member without a fixed length. */
export function answeredTuples(answer: Answer, width: number, isDynamic: boolean): bigint[][] | null {
  return read(answer, (body) =>
    words.wordsOf(body, 0, 0).map((at, item, items) => {
      const first = items[0] as number
      const start = isDynamic ? first + Number(words.uintOf(body, at, OFFSET_BITS)) * 2 : first + item * width * 64
      return Array.from({ length: width }, (_, word) => words.uintOf(body, words.wordAt(body, start, word), 256))
    }),
  )
}

const OFFSET_BITS = 32

function read<T>(answer: Answer, reading: (body: string) => T): T | null {
  if (answer === null || answer === undefined) return null
  try {
    return reading(answer.slice(2).toLowerCase())
  } catch (error) {
    if (error instanceof words.Malformed) return null
    throw error
  }
}
