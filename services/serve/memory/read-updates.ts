import { DextapeError } from '../../core/domain/errors.js'
import type { Update } from '../../core/domain/records.js'
import type { Codec } from '../../core/log/codec.js'
import { createAssembler } from '../../core/log/parts.js'
import type { EventLog, LogRecord } from '../../core/log/port.js'
import { isAtOrBefore, type Position } from './candle-overlay.js'

export type UpdateCodec = Pick<Codec, 'decodeLogRecord' | 'learn'>

/** Records of an updates topic as updates, or parts of them. */
export async function decodeUpdates(
  codec: UpdateCodec,
  topic: string,
  records: readonly LogRecord[],
): Promise<Update[]> {
  await codec.learn(records.map(({ value }) => value))
  return records.map(({ value, offset }) => {
    const decoded = codec.decodeLogRecord(value, { topic, offset })
    if (decoded.kind === 'update') return decoded.update
    throw new DextapeError({
      code: 'not_an_update',
      what: 'A topic of updates holds something else',
      where: { topic, position: `offset ${offset}` },
      got: decoded.kind,
    })
  })
}

/**
 * Joins split updates. A part that continues nothing is dropped: reading may begin inside an update, and a writer that was
 * only paused may have put parts between its successor's, which are the same. What is really lost shows as a missing seq.
 */
export function createUpdateAssembler(): (part: Update, offset: number) => Update | undefined {
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

/**
 * An offset of an updates topic from which nothing after `position` is missed. (epoch, seq) grows along the topic but for
 * runs written again after a crash; each such run passes `position` without a hole, so whichever crossing the search
 * meets is good. The margin takes in the first parts of a split update; what was seen is dropped.
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
