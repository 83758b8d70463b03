/** The end of a chain on the log, whoever published it. */
import { DextapeError } from '../core/domain/errors.js'
import type { Codec, DecodedRecord } from '../core/log/codec.js'
import { createAssembler } from '../core/log/parts.js'
import type { EventLog } from '../core/log/port.js'
import type { PublishedBlock } from './source.js'

type Reading = Pick<Codec, 'decodeLogRecord' | 'learn'>

const FIRST_LOOK_RECORDS = 256

/** The last blocks, newest last, down to a final one or the topic's first. Empty: the topic has no block. */
export async function readPublished(log: EventLog, codec: Reading, topic: string): Promise<PublishedBlock[]> {
  const { start, end } = await log.info(topic)
  // After a deep reorg, or far above finality, read further back.
  for (let records = FIRST_LOOK_RECORDS; ; records *= 8) {
    const from = Math.max(start, end - records)
    const blocks = await blocksFrom(log, codec, topic, from, end)
    const head = blocks?.at(-1)
    const lowest = blocks?.findLastIndex(({ number }) => head !== undefined && number <= head.finalizedNumber) ?? -1
    if (blocks !== undefined && lowest !== -1) return blocks.slice(lowest)
    if (from === start) return blocks ?? []
  }
}

/** Undefined: more blocks were retracted than read. */
async function blocksFrom(
  log: EventLog,
  codec: Reading,
  topic: string,
  start: number,
  end: number,
): Promise<PublishedBlock[] | undefined> {
  const assembler = createAssembler()
  let blocks: PublishedBlock[] | undefined = []
  for (let from = start; from < end; ) {
    const records = await log.read(topic, { from })
    const last = records.at(-1)
    if (last === undefined) break
    from = last.offset + 1
    await codec.learn(records.map(({ value }) => value))
    for (const { value, offset } of records) {
      if (offset >= end) break
      const whole = usable(() => assembler.push(codec.decodeLogRecord(value, { topic, offset }), offset))
      if (whole !== undefined) blocks = after(blocks, whole.record)
    }
  }
  return blocks
}

/** Unreadable records are skipped, as in aggregate, and so is the rest of a block that started before the first record read. */
function usable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof DextapeError) return undefined
    throw error
  }
}

function after(blocks: PublishedBlock[] | undefined, record: DecodedRecord): PublishedBlock[] | undefined {
  if (record.kind === 'block') {
    const { number, hash, time, finalized_number } = record.block
    const known = blocks ?? []
    known.push({ number, hash, timeS: time, finalizedNumber: finalized_number })
    return known
  }
  if (record.kind !== 'retract') return blocks
  const stays = blocks?.findLastIndex(({ hash }) => hash === record.retract.to_hash) ?? -1
  return stays === -1 ? undefined : blocks?.slice(0, stays + 1)
}
