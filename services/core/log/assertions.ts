/** Checks names, offsets and entries by Kafka's rules, so that what one log accepts the other accepts too. */
import { DextapeError } from '../domain/errors.js'
import type { LogEntry } from './port.js'

const NAME = /^[A-Za-z0-9._-]{1,249}$/

export function assertName(what: 'topic' | 'group', name: string): void {
  if (NAME.test(name) && name !== '.' && name !== '..') return
  const expected = '1 to 249 letters, digits, dots, underscores and dashes'
  const got = JSON.stringify(name)
  if (what === 'topic') throw new DextapeError({ code: 'bad_topic_name', what: 'Invalid topic name', expected, got })
  throw new DextapeError({ code: 'bad_group_name', what: 'Invalid group name', expected, got })
}

export function assertOffset(topic: string, offset: number): void {
  if (Number.isSafeInteger(offset) && offset >= 0) return
  throw new DextapeError({
    code: 'bad_offset',
    what: 'Invalid offset',
    where: { topic },
    expected: 'a whole number, 0 or more',
    got: String(offset),
  })
}

/** For a position beyond the topic's end: the next records there would not be the ones it was meant for. */
export function offsetLost(topic: string, from: number, end: number): DextapeError {
  return new DextapeError({
    code: 'offset_lost',
    what: `Cannot continue reading at offset ${from}: the topic ends at offset ${end}`,
    where: { topic },
    fix:
      'The topic was recreated, or its newest records were lost. Restore it from a backup; or delete what was derived ' +
      'from the lost records (for blocks: the chain’s checkpoint, see docs/operations.md) and restart.',
  })
}

export function assertEntries(topic: string, entries: readonly LogEntry[], maxValueBytes: number): void {
  for (const { key, value, timestampMs } of entries) {
    if (value.byteLength > maxValueBytes) {
      throw new DextapeError({
        code: 'record_too_large',
        what: 'Record is too large for the log',
        where: { topic, position: key },
        expected: `at most ${maxValueBytes} bytes`,
        got: `${value.byteLength}`,
        fix: 'Split it into parts (splitBlock, splitUpdate) or raise the log’s maximum record size.',
      })
    }
    if (!(timestampMs >= 0 && timestampMs <= Number.MAX_SAFE_INTEGER)) {
      throw new DextapeError({
        code: 'bad_timestamp',
        what: 'Invalid timestamp',
        where: { topic, position: key },
        expected: 'milliseconds since 1970, 0 or more',
        got: String(timestampMs),
      })
    }
  }
}

/** Bytes of the log's file have changed, or are gone. */
export function chunkDamaged(offset: number, got: string): DextapeError {
  return new DextapeError({ code: 'log_damaged', what: `Record ${offset} of the log is damaged`, got })
}

/** The same, for whoever knows the file. */
export function logDamaged(where: { file: string; topic?: string }, got: string): DextapeError {
  return new DextapeError({
    code: 'log_damaged',
    what: 'The log is damaged',
    where,
    got,
    fix: 'Start Dextape again: a start repairs the log.',
  })
}
