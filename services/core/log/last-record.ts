import type { Codec, DecodedRecord } from './codec.js'
import type { EventLog } from './port.js'

/** The newest record of a topic; undefined when there is none. */
export async function lastRecord(log: EventLog, codec: Codec, topic: string): Promise<DecodedRecord | undefined> {
  const { start, end } = await log.info(topic)
  if (end <= start) return undefined
  const [record] = await log.read(topic, { from: end - 1, maxRecords: 1 })
  if (record === undefined) return undefined
  await codec.learn([record.value])
  return codec.decodeLogRecord(record.value, { topic, offset: record.offset })
}
