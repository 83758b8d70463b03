/** Decoded records of a topic: all of them, the first block, the newest one. */
import { DextapeError } from '../domain/errors.js'
import type { Codec, DecodedRecord } from './codec.js'
import type { EventLog, LogRecord } from './port.js'

export type OpenLog = { log: EventLog; codec: Codec }

const BATCH = { maxRecords: 256 }

/** A topic's records from an offset to its end, as they are on the log; the codec knows their schemas. */
export async function* rawRecords(
  { log, codec }: { log: EventLog; codec: Pick<Codec, 'learn'> },
  topic: string,
  start: number,
): AsyncGenerator<LogRecord> {
  for (let from = start; ; ) {
    const records = await log.read(topic, { from, ...BATCH })
    const last = records.at(-1)
    if (last === undefined) return
    from = last.offset + 1
    await codec.learn(records.map(({ value }) => value))
    yield* records
  }
}

/** A topic's records up to its current end; skips what cannot be decoded, as the fold does. */
export async function* recordsOf(open: OpenLog, topic: string, end?: number): AsyncGenerator<DecodedRecord> {
  const range = await open.log.info(topic)
  const stop = end ?? range.end
  if (range.start >= stop) return
  for await (const { value, offset } of rawRecords(open, topic, range.start)) {
    if (offset >= stop) return
    try {
      yield open.codec.decodeLogRecord(value, { topic, offset })
    } catch (error) {
      if (!(error instanceof DextapeError)) throw error
    }
  }
}

export async function firstBlock(open: OpenLog, topic: string): Promise<{ number: number; timeS: number } | undefined> {
  for await (const record of recordsOf(open, topic))
    if (record.kind === 'block') return { number: record.block.number, timeS: record.block.time }
  return undefined
}

/** The newest record of a topic; undefined when there is none. */
export async function lastRecord(log: EventLog, codec: Codec, topic: string): Promise<DecodedRecord | undefined> {
  const { start, end } = await log.info(topic)
  if (end <= start) return undefined
  const [record] = await log.read(topic, { from: end - 1, maxRecords: 1 })
  if (record === undefined) return undefined
  await codec.learn([record.value])
  return codec.decodeLogRecord(record.value, { topic, offset: record.offset })
}
