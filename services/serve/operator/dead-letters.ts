/** Reads dead letters from the log. */
import type { DeadLetter } from '../../core/domain/records.js'
import type { Codec } from '../../core/log/codec.js'
import { deadTopic, type EventLog } from '../../core/log/port.js'
import { rawRecords } from '../../core/log/topic-records.js'

export type FoundLetter = { offset: number; letter: DeadLetter }
export type ReadableLog = { log: EventLog; codec: Pick<Codec, 'learn' | 'decodeLogRecord'> }

const DEAD_PREFIX = deadTopic('')

export async function deadTopics(log: EventLog, chain: string | undefined): Promise<string[]> {
  const known = (await log.topics()).map(({ topic }) => topic).filter((topic) => topic.startsWith(DEAD_PREFIX))
  return (chain === undefined ? known : known.filter((topic) => topic === deadTopic(chain))).sort()
}

export async function* lettersOf(open: ReadableLog, topic: string, from: number): AsyncGenerator<FoundLetter> {
  for await (const { value, offset } of rawRecords(open, topic, from)) {
    const record = open.codec.decodeLogRecord(value, { topic, offset })
    if (record.kind === 'dead') yield { offset, letter: record.dead }
  }
}

/** The newest letters of each topic, newest first. */
export async function newestLetters(
  from: ReadableLog,
  chain: string | undefined,
  limit: number,
): Promise<FoundLetter[]> {
  const found: FoundLetter[] = []
  for (const topic of await deadTopics(from.log, chain)) {
    const { start, end } = await from.log.info(topic)
    for await (const one of lettersOf(from, topic, Math.max(start, end - limit))) found.push(one)
  }
  return found.sort((a, b) => b.letter.at - a.letter.at || b.offset - a.offset).slice(0, limit)
}

/** Text where the bytes are valid UTF-8, else base64. */
export function rawText(raw: Uint8Array): string {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const text = bytes.toString('utf8')
  return Buffer.from(text).equals(bytes) ? text : `base64:${bytes.toString('base64')}`
}
