import { DextapeError } from '../../core/domain/errors.js'
import type { BlockUpdate } from '../../core/domain/records.js'
import type { Codec } from '../../core/log/codec.js'
import { createAssembler } from '../../core/log/parts.js'
import type { EventLog, LogRecord } from '../../core/log/port.js'
import { isAtOrBefore, type Position } from './candle-overlay.js'

/** Read at once. */
export const BATCH_RECORDS = 256

export type UpdateCodec = Pick<Codec, 'decodeLazily' | 'learn'>

/** Decodes records of an updates topic into updates or parts of updates. */
export async function decodeUpdates(
  codec: UpdateCodec,
  topic: string,
  records: readonly LogRecord[],
): Promise<BlockUpdate[]> {
  await codec.learn(records.map(({ value }) => value))
  return records.map(({ value, offset }) => {
    const decoded = codec.decodeLazily(value, { topic, offset })
    if (decoded.kind === 'update') return decoded.update
    throw new DextapeError({
      code: 'not_an_update',
      what: 'Unexpected record kind in topic',
      where: { topic, position: `offset ${offset}` },
      got: decoded.kind,
    })
  })
}

/**
 * Joins split updates. A part that continues nothing is dropped: reading may start inside an update, and a paused writer may
 * have repeated parts of its successor. Real loss shows as a missing seq.
 */
export function createUpdateAssembler(): (part: BlockUpdate, offset: number) => BlockUpdate | undefined {
  const assembler = createAssembler()
  return (part, offset) => {
    try {
      const whole = assembler.push({ kind: 'update', update: part }, offset)
      return whole?.record.kind === 'update' ? whole.record.update : undefined
    } catch (error) {
      if (error instanceof DextapeError && error.code === 'broken_parts') return undefined
      throw error
    }
  }
}

/** The complete updates from an offset to the topic's end. */
export async function* readUpdates(
  { log, codec }: { log: EventLog; codec: UpdateCodec },
  topic: string,
  first: number,
): AsyncGenerator<BlockUpdate> {
  const assemble = createUpdateAssembler()
  for (let from = first; ; ) {
    const records = await log.read(topic, { from, maxRecords: BATCH_RECORDS })
    const parts = await decodeUpdates(codec, topic, records)
    for (const [index, { offset }] of records.entries()) {
      const part = parts[index]
      const update = part === undefined ? undefined : assemble(part, offset)
      if (update !== undefined) yield update
    }
    const last = records.at(-1)
    if (last === undefined) return
    from = last.offset + 1
  }
}

/**
 * Finds an offset to read from so that nothing after `position` is missed. (epoch, seq) increases along the topic except
 * for runs repeated after a crash. Each run passes `position` without a gap, so any crossing the binary search finds works.
 * The margin includes the first parts of a split update; already applied updates are skipped.
 */
export async function findOffset(
  log: EventLog,
  topic: string,
  codec: UpdateCodec,
  position: Position,
  marginRecords = 256,
): Promise<number> {
  const { start, end } = await log.info(topic)
  let low = start
  let high = end
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [update] = await decodeUpdates(codec, topic, await log.read(topic, { from: middle, maxRecords: 1 }))
    if (update === undefined) high = middle
    else if (isAtOrBefore(update, position)) low = middle + 1
    else high = middle
  }
  return Math.max(start, low - marginRecords)
}
