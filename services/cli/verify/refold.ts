/** Folds the log from its first record: the rows and updates that the store and the topic must hold. */
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { applyRecord } from '../../aggregate/accept-record.js'
import { StoredHistory } from '../../aggregate/checkpoint/applied-history.js'
import { restingState } from '../../aggregate/checkpoint/restore-state.js'
import { memoryStateStore } from '../../aggregate/checkpoint/state-store.js'
import { encodeRows, rowFactsOf } from '../../aggregate/sink/encode-rows.js'
import { RowBatch } from '../../aggregate/sink/row-batch.js'
import { type FoldSettings, FoldState } from '../../aggregate/state/fold-state.js'
import type { ChainFacts } from '../../core/domain/chains.js'
import { DextapeError } from '../../core/domain/errors.js'
import type { BlockUpdate } from '../../core/domain/records.js'
import { createAssembler } from '../../core/log/parts.js'
import { blocksTopic, updatesTopic } from '../../core/log/port.js'
import { type OpenLog, rawRecords } from '../../core/log/topic-records.js'
import { readRows } from '../../core/store/row-binary.js'
import { liveGeneration } from '../open-data.js'
import { type ComparedTable, isCompared, type Row } from './compared-tables.js'
import { ExpectedRows } from './row-prints.js'

export type VisitRow = (table: ComparedTable, row: Row) => void

export type Refolded = {
  chain: string
  epoch: number
  seq: number
  /** The newest row of each key, as numbers. */
  rows: ExpectedRows
  /** Fingerprints of the encoded updates, by seq. */
  updates: Map<number, string>
  /** Folds once more, for the rows themselves. A key's rows come in the order in which they are stored. */
  again(visit: VisitRow): Promise<void>
}

const SEQS_PER_TURN = 64
const BATCH_ROWS = 500_000
const ROWS_PER_TURN = 5000

export async function refold(
  open: OpenLog,
  facts: ChainFacts,
  settings: FoldSettings,
  until: { epoch: number; seq: number },
  onSeq: (seq: number) => void,
): Promise<Refolded> {
  const { chain } = facts
  const rows = new ExpectedRows()
  const updates = new Map<number, string>()
  const fold = (onRow: VisitRow, onUpdate: VisitUpdate) =>
    foldAll(open, facts, settings, until, { onSeq, onRow, onUpdate })
  const seq = await fold(
    (table, row) => rows.of(table).add(row),
    (update) => {
      const encoded = open.codec.encodeUpdate(updatesTopic(chain), update)
      updates.set(update.seq, fingerprintOf(encoded))
    },
  )
  const again = async (visit: VisitRow) => void (await fold(visit, () => {}))
  return { chain, epoch: until.epoch, seq, rows, updates, again }
}

type VisitUpdate = (update: BlockUpdate) => void
type Visits = { onSeq(seq: number): void; onRow: VisitRow; onUpdate: VisitUpdate }

/** Returns the seq it got to. */
async function foldAll(
  { log, codec }: OpenLog,
  facts: ChainFacts,
  settings: FoldSettings,
  until: { epoch: number; seq: number },
  { onSeq, onRow, onUpdate }: Visits,
): Promise<number> {
  const { chain } = facts
  const memory = memoryStateStore()
  const state = new FoldState(facts, settings, until.epoch, restingState(memory))
  const history = new StoredHistory(memory)
  const assembler = createAssembler()
  let batch = new RowBatch(chain)
  const topic = blocksTopic(chain, await liveGeneration(log, chain))
  for await (const { value, offset } of rawRecords({ log, codec }, topic, 0)) {
    if (state.seq >= until.seq) break
    const whole = unlessDeadLetter(() => assembler.push(codec.decodeLogRecord(value, { topic, offset }), offset))
    if (whole === undefined || (whole.record.kind !== 'block' && whole.record.kind !== 'retract')) continue
    const result = applyRecord(state, history, whole.record)
    if (result === undefined) continue
    batch.add(result)
    if (batch.rows >= BATCH_ROWS) {
      await visitRows(batch)
      batch = new RowBatch(chain)
    }
    onUpdate(result.update)
    onSeq(state.seq)
    // A log that is read from memory never waits: signals and reports would.
    if (state.seq % SEQS_PER_TURN === 0) await nextTurn()
  }
  await visitRows(batch)
  return state.seq

  async function visitRows(full: RowBatch): Promise<void> {
    for (const { table, rows } of encodeRows(chain, full, rowFactsOf(state))) {
      if (!isCompared(table)) continue
      let visited = 0
      for (const row of readRows(table, rows)) {
        onRow(table, row)
        visited += 1
        if (visited % ROWS_PER_TURN === 0) await nextTurn()
      }
    }
  }
}

/** Records that `aggregate` wrote to the dead letters are in no row. */
function unlessDeadLetter<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof DextapeError) return undefined
    throw error
  }
}

/** A short digest, to compare updates without keeping them. */
export function fingerprintOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64').slice(0, 22)
}
