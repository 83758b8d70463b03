/**
 * Typed fields of a log: words of its data by index, and indexed fields by topic index. What does not fit is a
 * `BadLog`.
 */

import type { EvmLog } from '../log.js'
import { BadLog } from '../protocol.js'
import * as words from './abi-words.js'

/** Checks a log whose data has static types only: its topic count (topic 0 included) and its data length, to the byte. */
export function expectShape(log: EvmLog, topics: number, dataWords: number): void {
  if (log.topics.length !== topics) throw new BadLog(log, `${log.topics.length} topics, expected ${topics}`)
  if (log.data.length !== 2 + dataWords * 64) {
    throw new BadLog(log, `${(log.data.length - 2) / 2} bytes of data, expected ${dataWords * 32}`)
  }
}

export function uintAt(log: EvmLog, word: number, bits = 256): bigint {
  try {
    return words.uintOf(log.data, words.wordAt(log.data, FIRST, word), bits)
  } catch (error) {
    throw bad(log, error)
  }
}

export function intAt(log: EvmLog, word: number, bits = 256): bigint {
  try {
    return words.intOf(log.data, words.wordAt(log.data, FIRST, word), bits)
  } catch (error) {
    throw bad(log, error)
  }
}

export function addressAt(log: EvmLog, word: number): string {
  return read(log, () => words.addressOf(log.data, words.wordAt(log.data, FIRST, word)))
}

export function boolAt(log: EvmLog, word: number): boolean {
  return read(log, () => words.boolOf(log.data, words.wordAt(log.data, FIRST, word)))
}

export function bytes32At(log: EvmLog, word: number): string {
  return read(log, () => words.bytes32Of(log.data, words.wordAt(log.data, FIRST, word)))
}

/** Dynamic `bytes` (or a string's bytes) whose offset is in that word. */
export function bytesAt(log: EvmLog, word: number): string {
  return read(log, () => `0x${words.bytesOf(log.data, FIRST, word)}`)
}

export function uintsAt(log: EvmLog, word: number, bits = 256): bigint[] {
  return read(log, () => words.wordsOf(log.data, FIRST, word).map((at) => words.uintOf(log.data, at, bits)))
}

export function intsAt(log: EvmLog, word: number, bits = 256): bigint[] {
  return read(log, () => words.wordsOf(log.data, FIRST, word).map((at) => words.intOf(log.data, at, bits)))
}

export function addressesAt(log: EvmLog, word: number): string[] {
  return read(log, () => words.wordsOf(log.data, FIRST, word).map((at) => words.addressOf(log.data, at)))
}

export function bytes32sAt(log: EvmLog, word: number): string[] {
  return read(log, () => words.wordsOf(log.data, FIRST, word).map((at) => words.bytes32Of(log.data, at)))
}

/** `topic` counts as on the chain: 0 is the event itself. */
export function indexedUint(log: EvmLog, topic: number, bits = 256): bigint {
  return read(log, () => words.uintOf(topicOf(log, topic), FIRST, bits))
}

export function indexedInt(log: EvmLog, topic: number, bits = 256): bigint {
  return read(log, () => words.intOf(topicOf(log, topic), FIRST, bits))
}

/** Routers and traders recur, so parsed addresses are cached by topic. */
export function indexedAddress(log: EvmLog, topic: number): string {
  const text = log.topics[topic]
  const known = text === undefined ? undefined : addresses.get(text)
  if (known !== undefined) return known
  const found = read(log, () => words.addressOf(topicOf(log, topic), FIRST))
  if (addresses.size >= ADDRESSES_REMEMBERED) addresses.clear()
  if (text !== undefined) addresses.set(text, found)
  return found
}

export function indexedBool(log: EvmLog, topic: number): boolean {
  return read(log, () => words.boolOf(topicOf(log, topic), FIRST))
}

export function indexedBytes32(log: EvmLog, topic: number): string {
  return read(log, () => words.bytes32Of(topicOf(log, topic), FIRST))
}

/** After `0x`. */
const FIRST = 2
const TOPIC_CHARS = 66
const ADDRESSES_REMEMBERED = 20_000
const addresses = new Map<string, string>()

function topicOf({ topics }: EvmLog, index: number): string {
  const topic = topics[index]
  if (topic === undefined) throw new words.Malformed(`topic ${index} is missing: there are ${topics.length}`)
  if (topic.length !== TOPIC_CHARS) throw new words.Malformed(`${topic} is not a 32-byte word`)
  return topic
}

function read<T>(log: EvmLog, reading: () => T): T {
  try {
    return reading()
  } catch (error) {
    throw bad(log, error)
  }
}

const bad = (log: EvmLog, error: unknown): unknown =>
  error instanceof words.Malformed ? new BadLog(log, error.message) : error
