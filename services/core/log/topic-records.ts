import { DextapeError } from '../domain/errors.js'
import type { Codec, DecodedRecord } from './codec.js'
import type { EventLog } from './port.js'

export type OpenLog = { log: EventLog; codec: Codec }

/** A topic's records up to the end it has now; what cannot be decoded is passed over, as the fold does. */
export async function* recordsOf({ log, codec }: OpenLog, topic: string, end?: number): AsyncGenerator<DecodedRecord> {
  const range = await log.info(topic)
  const stop = end ?? range.end
  for (let from = range.start; from < stop; ) {
    const records = await log.read(topic, { from, maxRecords: 256 })
    const last = records.at(-1)
    if (last === undefined) return
    from = last.offset + 1
    await codec.learn(records.map(({ value }) => value))
    for (const { value, offset } of records) {
      if (offset >= stop) return
      try {
        yield codec.decodeLogRecord(value, { topic, offset })
      } catch (error) {
        if (!(error instanceof DextapeError)) throw error
      }
    }
  }
}

export async function firstBlock(open: OpenLog, topic: string): Promise<{ number: number; timeS: number } | undefined> {
  for await (const record of recordsOf(open, topic))
    if (record.kind === 'block') return { number: record.block.number, timeS: record.block.time }
  return undefined
}
