/** Reads a chain's generations strictly: every record must continue the one before. */

import { liveGeneration } from '../../../services/cli/open-data.js'
import { createAssembler } from '../../../services/core/log/parts.js'
import { blocksTopic } from '../../../services/core/log/port.js'
import type { OpenLog } from '../../../services/core/log/topic-records.js'
import { recordsOf } from '../../../services/core/log/topic-records.js'
import type { RecordingLine } from '../reference/lines.js'

/** `hashes`: the canonical blocks; `wrong`: records that do not continue the head, including repeated ones. */
export type Held = { hashes: string[]; wrong: string[]; records: number }

export async function heldBy({ log, codec }: OpenLog, chain: string, generation: number): Promise<Held> {
  const topic = blocksTopic(chain, generation)
  const assembler = createAssembler()
  const held: Held = { hashes: [], wrong: [], records: 0 }
  for (let from = 0; ; ) {
    const records = await log.read(topic, { from })
    const last = records.at(-1)
    if (last === undefined) return held
    from = last.offset + 1
    await codec.learn(records.map(({ value }) => value))
    for (const { value, offset } of records) {
      const record = assembler.push(codec.decodeLogRecord(value, { topic, offset }), offset)?.record
      held.records += 1
      const head = held.hashes.at(-1)
      if (record?.kind === 'block') {
        const { number, hash, parent_hash } = record.block
        if (head !== undefined && head !== parent_hash) held.wrong.push(`${offset}: block ${number} ${hash} on ${head}`)
        held.hashes.push(hash)
      } else if (record?.kind === 'retract') {
        const { from_number, from_hash, to_hash } = record.retract
        if (head !== from_hash) held.wrong.push(`${offset}: retract of ${from_number} ${from_hash} at ${head}`)
        held.hashes.length = held.hashes.indexOf(to_hash) + 1
      }
    }
  }
}

export const heldLive = async (open: OpenLog, chain: string): Promise<Held & { generation: number }> => {
  const generation = await liveGeneration(open.log, chain)
  return { generation, ...(await heldBy(open, chain, generation)) }
}

/** A generation as a recording's lines. */
export async function linesOf(open: OpenLog, chain: string, generation: number): Promise<RecordingLine[]> {
  const lines: RecordingLine[] = []
  const assembler = createAssembler()
  let offset = 0
  for await (const record of recordsOf(open, blocksTopic(chain, generation))) {
    const whole = assembler.push(record, offset++)?.record
    if (whole?.kind === 'block') lines.push({ kind: 'block', ...whole.block })
    else if (whole?.kind === 'retract') lines.push({ kind: 'retract', ...whole.retract })
  }
  return lines
}
