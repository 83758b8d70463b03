/** Items collected for one append, with their last position and the counts to add once they are published. */

import type { DeadLetter } from '../core/domain/records.js'
import { isRetryable } from '../core/runtime/backoff.js'
import type { Tracer } from '../core/runtime/tracing.js'
import type { ChainMark } from './checkpoints.js'
import { encodeLetter, encodeRecord, type IngestCodec, type TopicEntry, unencodable } from './encode-records.js'
import { chainStatus, countLetter, countOf, countRecord, type IngestStatus, type RecordCount } from './ingest-status.js'
import { chainOf, type SourceItem, type SourceRecord } from './source.js'

const MAX_ENTRIES = 2000
const MAX_BYTES = 8 * 1024 * 1024

type Given<Position> = Exclude<SourceItem<Position>, { kind: 'idle' }>

export interface Batch<Position> {
  /** `arrivedMs`: when its source gave it. */
  add(item: Given<Position>, arrivedMs?: number): void
  readonly isFull: boolean
  readonly isEmpty: boolean
  finish(): { entries: TopicEntry[]; position: Position | undefined; chains: Record<string, ChainMark> }
  /** Once published. */
  count(nowMs: number): void
}

export function createBatch<Position>(
  codec: IngestCodec,
  maxValueBytes: number,
  source: string,
  status: IngestStatus,
  topicOf: (chain: string) => string,
  tracer?: Pick<Tracer, 'wants'>,
): Batch<Position> {
  const entries: TopicEntry[] = []
  const counts: RecordCount[] = []
  const letters: DeadLetter[] = []
  const heads = new Map<string, ChainMark>()
  let position: (() => Position) | undefined
  let bytes = 0

  const headOf = (chain: string): ChainMark | undefined => heads.get(chain) ?? status.chains.get(chain)?.head
  const timeMsOf = (chain: string): number => {
    const own = headOf(chain)
    if (own !== undefined) return own.timeS * 1000
    return Math.max(0, ...[...status.chains.keys(), ...heads.keys()].map((known) => headOf(known)?.timeS ?? 0)) * 1000
  }

  function push(more: TopicEntry[]): void {
    for (const item of more) {
      entries.push(item)
      bytes += item.entry.value.length
    }
  }

  function addLetter(letter: DeadLetter): void {
    push([encodeLetter(letter, codec, maxValueBytes, timeMsOf(letter.chain))])
    letters.push(letter)
  }

  function addRecord(record: SourceRecord, arrivedMs: number | undefined): void {
    let encoded: TopicEntry[]
    const chain = chainOf(record)
    const topic = topicOf(chain)
    try {
      encoded = encodeRecord(record, topic, codec, maxValueBytes, timeMsOf(chain))
    } catch (error) {
      if (isRetryable(error)) throw error
      addLetter(unencodable(record, source, error))
      return
    }
    for (const { entry } of encoded) entry.arrivedMs = arrivedMs
    if (tracer !== undefined) trace(record, encoded)
    push(encoded)
    // Not the record itself: objects a batch holds would reach the old generation of the heap.
    counts.push(countOf(record))
    moveHead(record)
  }

  /** A block in parts is in the log with its last part. */
  function trace(record: SourceRecord, encoded: readonly TopicEntry[]): void {
    if (record.kind !== 'block' || tracer?.wants(record.block.number) !== true) return
    const { chain, number, hash } = record.block
    const last = encoded.at(-1)
    if (last !== undefined) last.entry.traced = { chain, number, hash }
  }

  function moveHead(record: SourceRecord): void {
    if (record.kind === 'block') {
      const { chain, number, hash, time, finalized_number } = record.block
      heads.set(chain, { number, hash, timeS: time, finalizedNumber: finalized_number })
      return
    }
    const { chain, to_number, to_hash } = record.retract
    const { timeS = 0, finalizedNumber = 0 } = headOf(chain) ?? {}
    heads.set(chain, { number: to_number, hash: to_hash, timeS, finalizedNumber })
  }

  return {
    add(item, arrivedMs) {
      if (item.kind === 'dead') addLetter(item.letter)
      else addRecord(item.record, arrivedMs)
      position = item.position
    },
    get isFull() {
      return entries.length >= MAX_ENTRIES || bytes >= MAX_BYTES
    },
    get isEmpty() {
      return position === undefined
    },
    finish() {
      const chains: Record<string, ChainMark> = {}
      for (const [chain, { head }] of status.chains) if (head !== undefined) chains[chain] = head
      for (const [chain, head] of heads) chains[chain] = head
      return { entries, position: position?.(), chains }
    },
    count(nowMs) {
      for (const count of counts) countRecord(status, count, nowMs)
      for (const letter of letters) countLetter(status, letter)
      for (const [chain, head] of heads) chainStatus(status, chain).head = head
      status.appendedBytes += bytes
      status.batches += 1
    },
  }
}
