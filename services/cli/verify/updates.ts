/**
 * Compares the updates topic with the replay: every seq in order, each with the same bytes. A process that was presumed dead may
 * have written some twice; readers drop those, and so does this.
 */
import { createAssembler } from '../../core/log/parts.js'
import { updatesTopic } from '../../core/log/port.js'
import type { OpenLog } from '../../core/log/topic-records.js'
import type { Finding } from './compare.js'
import { fingerprintOf, type Refolded } from './refold.js'

const BATCH = { maxRecords: 256 }

export async function verifyUpdates({ log, codec }: OpenLog, expected: Refolded): Promise<Finding> {
  const topic = updatesTopic(expected.chain)
  const assembler = createAssembler()
  const wrong: string[] = []
  let compared = 0
  let before: number | undefined
  for (let from = (await log.info(topic)).start; ; ) {
    const records = await log.read(topic, { from, ...BATCH })
    const last = records.at(-1)
    if (last === undefined) break
    from = last.offset + 1
    await codec.learn(records.map(({ value }) => value))
    for (const { value, offset } of records) {
      const whole = assembler.push(codec.decodeLogRecord(value, { topic, offset }), offset)
      if (whole?.record.kind !== 'update' || whole.record.update.epoch !== expected.epoch) continue
      const { update } = whole.record
      if (update.seq > expected.seq) continue
      if (before !== undefined && update.seq > before + 1) wrong.push(`seq ${update.seq} follows ${before}`)
      if (before === undefined || update.seq > before) {
        compared += 1
        before = update.seq
      }
      const print = fingerprintOf(codec.encodeUpdate(topic, { ...update, part: 0, last_part: 0 }))
      if (expected.updates.get(update.seq) !== print)
        wrong.push(`the update of seq ${update.seq} differs from the replay`)
    }
  }
  return { what: 'updates', compared, wrong }
}
