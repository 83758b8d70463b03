/** Typed fields of a log: words of its data by place, and what is indexed by the topic's place. What does not fit is a `BadLog`. */
import * as words from './abi-words.js'
import type { EvmLog } from './log.js'
import { BadLog } from './protocol.js'

/** Checks a log whose data has static types only: its topics, the event's own included, and the words of its data, to the byte. */
export function expectShape(log: EvmLog, topics: number, dataWords: number): void {
  if (log.topics.length !== topics) throw new BadLog(log, `${log.topics.length} topics, expected ${topics}`)
  if (log.data.length !== 2 + dataWords * 64) {
    throw new BadLog(log, `${(log.data.length - 2) / 2} bytes of data, expected ${dataWords * 32}`)
  }
}

export function uintAt(log: EvmLog, word: number, bits = 256): bigint {
  return read(log, () => words.uintOf(dataWord(log, word), bits))
}

export function intAt(log: EvmLog, word: number, bits = 256): bigint {
  return read(log, () => words.intOf(dataWord(log, word), bits))
}

export function addressAt(log: EvmLog, word: number): string {
  return read(log, () => words.addressOf(dataWord(log, word)))
}

export function boolAt(log: EvmLog, word: number): boolean {
  return read(log, () => words.boolOf(dataWord(log, word)))
}

export function bytes32At(log: EvmLog, word: number): string {
  return read(log, () => words.bytes32Of(dataWord(log, word)))
}

/** Dynamic `bytes` (or a string's bytes) whose offset stands in that word. */
export function bytesAt(log: EvmLog, word: number): string {
  return read(log, () => `0x${words.bytesOf(body(log), word)}`)
}

export function uintsAt(log: EvmLog, word: number, bits = 256): bigint[] {
  return read(log, () => words.wordsOf(body(log), word).map((item) => words.uintOf(item, bits)))
}

export function intsAt(log: EvmLog, word: number, bits = 256): bigint[] {
  return read(log, () => words.wordsOf(body(log), word).map((item) => words.intOf(item, bits)))
}

export function addressesAt(log: EvmLog, word: number): string[] {
  return read(log, () => words.wordsOf(body(log), word).map(words.addressOf))
}

export function bytes32sAt(log: EvmLog, word: number): string[] {
  return read(log, () => words.wordsOf(body(log), word).map(words.bytes32Of))
}

/** `topic` counts as on the chain: 0 is the event itself. */
export function indexedUint(log: EvmLog, topic: number, bits = 256): bigint {
  return read(log, () => words.uintOf(topicWord(log, topic), bits))
}

export function indexedInt(log: EvmLog, topic: number, bits = 256): bigint {
  return read(log, () => words.intOf(topicWord(log, topic), bits))
}

export function indexedAddress(log: EvmLog, topic: number): string {
  return read(log, () => words.addressOf(topicWord(log, topic)))
}

export function indexedBool(log: EvmLog, topic: number): boolean {
  return read(log, () => words.boolOf(topicWord(log, topic)))
}

export function indexedBytes32(log: EvmLog, topic: number): string {
  return read(log, () => words.bytes32Of(topicWord(log, topic)))
}

function body({ data }: EvmLog): string {
  return data.slice(2)
}

function dataWord({ data }: EvmLog, index: number): string {
  const word = data.slice(2 + index * 64, 66 + index * 64)
  if (word.length !== 64)
    throw new words.Malformed(`word ${index} is missing: there are ${(data.length - 2) / 2} bytes`)
  return word
}

function topicWord({ topics }: EvmLog, index: number): string {
  const topic = topics[index]
  if (topic === undefined) throw new words.Malformed(`topic ${index} is missing: there are ${topics.length}`)
  return topic.slice(2)
}

function read<T>(log: EvmLog, reading: () => T): T {
  try {
    return reading()
  } catch (error) {
    if (error instanceof words.Malformed) throw new BadLog(log, error.message)
    throw error
  }
}
