/** A chain's updates as a log that was written through crashes holds them: no seq skipped, none with two contents. */
import { createAssembler } from '../../../services/core/log/parts.js'
import { updatesTopic } from '../../../services/core/log/port.js'
import type { OpenedLog } from '../up/contents.js'
import { readRecords } from './contents.js'

export type UpdateRuns = {
  epochs: number[]
  lastSeq: number
  /** Records that stand in the log again, the same bytes under the same seq. */
  repeated: number
  skipped: string[]
  /** A seq that stands in the log with other bytes. */
  reused: string[]
}

export async function updateRuns({ log, codec }: OpenedLog, chain: string): Promise<UpdateRuns> {
  const topic = updatesTopic(chain)
  const records = await readRecords(log, topic)
  await codec.learn(records.map(({ value }) => value))
  const runs: UpdateRuns = { epochs: [], lastSeq: 0, repeated: 0, skipped: [], reused: [] }
  const contents = new Map<string, string>()
  const assembler = createAssembler()
  let bytes: Uint8Array[] = []
  for (const { value, offset } of records) {
    const part = codec.decodeLogRecord(value, { topic, offset })
    if (part.kind !== 'update') throw new Error(`${topic}@${offset} holds a ${part.kind}`)
    bytes = part.update.part === 0 ? [value] : [...bytes, value]
    if (assembler.push(part, offset) === undefined) continue
    const { epoch, seq } = part.update
    if (!runs.epochs.includes(epoch)) {
      runs.epochs.push(epoch)
      runs.lastSeq = 0
    }
    const content = Buffer.concat(bytes).toString('base64')
    const before = contents.get(`${epoch}:${seq}`)
    if (before !== undefined) {
      runs.repeated += 1
      if (before !== content) runs.reused.push(`${epoch}:${seq} at ${offset}`)
      continue
    }
    contents.set(`${epoch}:${seq}`, content)
    if (seq !== runs.lastSeq + 1) runs.skipped.push(`${epoch}:${seq} follows ${runs.lastSeq} at ${offset}`)
    runs.lastSeq = seq
  }
  return runs
}
