/** What the log takes as names, offsets and entries; the rules are Kafka's, so that a name good in one log is good in the other. */
import { DextapeError } from '../domain/errors.js'
import type { LogEntry } from './port.js'

const NAME = /^[A-Za-z0-9._-]{1,249}$/

export function assertName(what: 'topic' | 'group', name: string): void {
  if (NAME.test(name) && name !== '.' && name !== '..') return
  throw new DextapeError({
    code: `bad_${what}_name`,
    what: `not a ${what} name`,
    expected: '1 to 249 letters, digits, dots, underscores and dashes',
    got: JSON.stringify(name),
  })
}

export function assertOffset(topic: string, offset: number): void {
  if (Number.isSafeInteger(offset) && offset >= 0) return
  throw new DextapeError({
    code: 'bad_offset',
    what: 'not an offset',
    where: { topic },
    expected: 'a whole number from 0',
    got: String(offset),
  })
}

/** A reader's position the topic no longer reaches: its next records would be others than those it stands for. */
export function offsetLost(topic: string, from: number, end: number): DextapeError {
  return new DextapeError({
    code: 'offset_lost',
    what: `Cannot read on: the topic ends at offset ${end}, before offset ${from}, which is to be read next`,
    where: { topic },
    fix:
      'The topic was recreated, or its newest records were lost. Restore it from a backup; or remove what was made ' +
      'from the lost records (of blocks: the chain’s checkpoint, see docs/operations.md) and restart.',
  })
}

export function assertEntries(topic: string, entries: readonly LogEntry[], maxValueBytes: number): void {
  for (const { key, value, timestampMs } of entries) {
    if (value.byteLength > maxValueBytes) {
      throw new DextapeError({
        code: 'record_too_large',
        what: 'the record is larger than the log takes',
        where: { topic, position: key },
        expected: `at most ${maxValueBytes} bytes`,
        got: `${value.byteLength}`,
        fix: 'Split it into parts (splitBlock, splitUpdate) or raise the log’s maximum record size.',
      })
    }
    if (!(timestampMs >= 0 && timestampMs <= Number.MAX_SAFE_INTEGER)) {
      throw new DextapeError({
        code: 'bad_timestamp',
        what: 'not a timestamp',
        where: { topic, position: key },
        expected: 'milliseconds since 1970, from 0',
        got: String(timestampMs),
      })
    }
  }
}
