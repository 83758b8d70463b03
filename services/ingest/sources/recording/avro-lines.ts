/** An Avro file of blocks and retracts as JSON lines, which are then read and validated like those of any recording. */
import { readAvroFile } from '../../../core/log/avro-file.js'
import { SEED_FIELD } from '../../validate/read-line.js'
import { notBlocks } from './not-blocks.js'

const KINDS: Readonly<Record<string, string>> = { 'dextape.Block': 'block', 'dextape.Retract': 'retract' }
const LINES_BYTES = 128 * 1024

export async function* avroLines(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  const { names, seed, records } = await readAvroFile(chunks, name)
  const other = names.find((schema) => KINDS[schema] === undefined)
  if (other !== undefined) throw notBlocks(name, `its records are ${other}`)
  const mark = seed === undefined ? {} : { [SEED_FIELD]: seed }
  let lines = ''
  try {
    for await (const { name: schema, value } of records) {
      lines += `${JSON.stringify({ ...mark, kind: KINDS[schema], ...value })}\n`
      if (lines.length < LINES_BYTES) continue
      yield Buffer.from(lines)
      lines = ''
    }
  } catch (error) {
    // The intact part is published before the damage is reported.
    if (lines !== '') yield Buffer.from(lines)
    throw error
  }
  if (lines !== '') yield Buffer.from(lines)
}
