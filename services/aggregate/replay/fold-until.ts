import type { EventLog } from '../../core/log/port.js'
import type { ChainPipeline } from '../chain-pipeline.js'
import { FOLD_BATCH } from '../chain-turns.js'

export type Until = { position: number; seq: number }

export type FoldingSteps = { batch?: typeof FOLD_BATCH; afterBatch?: () => Promise<void> }

/** Folds up to an offset, which is the end of a block, and from there record by record up to a seq. */
export async function foldUntil(
  log: EventLog,
  topic: string,
  pipeline: ChainPipeline,
  { position, seq }: Until,
  { batch = FOLD_BATCH, afterBatch = async () => {} }: FoldingSteps = {},
): Promise<void> {
  let from = pipeline.position
  while (pipeline.stopped === null && (from < position || pipeline.state.seq < seq)) {
    const isBefore = from < position
    const read = await log.read(topic, { from, ...(isBefore ? batch : { maxRecords: 1 }) })
    const records = isBefore ? read.filter(({ offset }) => offset < position) : read
    const last = records.at(-1)
    if (last === undefined) return
    await pipeline.process(records)
    from = last.offset + 1
    await afterBatch()
  }
}
