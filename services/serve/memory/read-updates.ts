import { DextapeError } from '../../core/domain/errors.js'
import type { Update } from '../../core/domain/records.js'
import type { Codec } from '../../core/log/codec.js'
import { createAssembler } from '../../core/log/parts.js'
import type { LogRecord } from '../../core/log/port.js'

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
