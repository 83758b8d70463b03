/** Folds the log from its first record in memory: the rows and updates that the store and the topic must hold. */
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { applyRecord } from '../../aggregate/accept-record.js'
import { StoredHistory } from '../../aggregate/checkpoint/applied-history.js'
import { restingState } from '../../aggregate/checkpoint/restore-state.js'
import { memoryStateStore } from '../../aggregate/checkpoint/state-store.js'
import { encodeRows, type Insert, rowFactsOf } from '../../aggregate/sink/encode-rows.js'
import { RowBatch } from '../../aggregate/sink/row-batch.js'
import { type FoldSettings, FoldState } from '../../aggregate/state/fold-state.js'
import type { ChainFacts } from '../../core/domain/chains.js'
import { DextapeError } from '../../core/domain/errors.js'
import { createAssembler } from '../../core/log/parts.js'
import { blocksTopic, updatesTopic } from '../../core/log/port.js'
import { type OpenLog, rawRecords } from '../../core/log/topic-records.js'
import { liveGeneration } from '../open-data.js'

export type Refolded = {
  chain: string
  epoch: number
  seq: number
  /** Rows of all tables, as they are inserted. */
  rows: Insert[]
  /** Fingerprints of the encoded updates, by seq. */
  updates: Map<number, string>
}

const SEQS_PER_TURN = 64
const BATCH_ROWS = 500_000

export async function refold(
  open: OpenLog,
  facts: ChainFacts,
  settings: FoldSettings,
  until: { epoch: number; seq: number },
  onSeq: (seq: number) => void,
): Promise<Refolded> {
  const { chain } = facts
  const { log, codec } = open
  const memory = memoryStateStore()
  const state = new FoldState(facts, settings, until.epoch, restingState(memory))
  const history = new StoredHistory(memory)
  const assembler = createAssembler()
  const rows: Insert[] = []
  let batch = new RowBatch(chain)
  const updates = new Map<number, string>()
  const topic = blocksTopic(chain, await liveGeneration(log, chain))
  for await (const { value, offset } of rawRecords(open, topic, 0)) {
    if (state.seq >= until.seq) break
    const whole = unlessDeadLetter(() => assembler.push(codec.decodeLogRecord(value, { topic, offset }), offset))
    if (whole === undefined || (whole.record.kind !== 'block' && whole.record.kind !== 'retract')) continue
    const result = applyRecord(state, history, whole.record)
    if (result === undefined) continue
    batch.add(result)
    if (batch.rows >= BATCH_ROWS) {
      rows.push(...encodeRows(chain, batch, rowFactsOf(state)))
      batch = new RowBatch(chain)
    }
    updates.set(result.update.seq, fingerprintOf(codec.encodeUpdate(updatesTopic(chain), result.update)))
    onSeq(state.seq)
    // A log that is read from memory never waits: signals and reports would.
    if (state.seq % SEQS_PER_TURN === 0) await nextTurn()
  }
  rows.push(...encodeRows(chain, batch, rowFactsOf(state)))
  return { chain, epoch: until.epoch, seq: state.seq, rows, updates }
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
