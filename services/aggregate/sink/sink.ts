/** Batches rows and writes them to the store, one batch at a time behind the fold. */
import type { Store } from '../../core/store/port.js'
import type { FoldResult } from '../fold/block-changes.js'
import { encodeRows, type RowFacts } from './encode-rows.js'
import { RowBatch } from './row-batch.js'

/** A batch is written when its first row is `flushEveryMs` old, or when it has `flushRows`. */
export type SinkSettings = { flushEveryMs: number; flushRows: number }

export type Sink = {
  add(result: FoldResult): void
  /** Starts writing when the batch is due and none is being written; waits only when the batch is too large. */
  flushWhenDue(nowMs: number): Promise<void>
  /** Writes everything added so far. */
  flush(): Promise<void>
  /** Seq of the last update whose rows are written. */
  readonly flushedSeq: number
}

/** `storedSeq`: after a restart, the seq up to which rows are already stored. */
export function createSink(
  chain: string,
  store: Store,
  facts: RowFacts,
  settings: SinkSettings,
  storedSeq: number,
): Sink {
  let batch = new RowBatch(chain)
  let writing: Promise<void> | null = null
  let failure: unknown = null
  /** When the batch got its first row, as far as `flushWhenDue` saw. */
  let batchSinceMs: number | null = null
  let flushedSeq = storedSeq

  async function write(full: RowBatch): Promise<void> {
    for (const { table, rows } of encodeRows(chain, full, facts)) await store.insertRows(table, rows)
    flushedSeq = full.last?.seq ?? flushedSeq
  }

  function start(): void {
    if (writing !== null || batch.last === null) return
    const full = batch
    batch = new RowBatch(chain)
    batchSinceMs = null
    writing = write(full)
      .catch((error: unknown) => {
        failure = error
      })
      .finally(() => {
        writing = null
      })
  }

  function check(): void {
    if (failure !== null) throw failure
  }

  return {
    add: (result) => batch.add(result),
    async flushWhenDue(nowMs) {
      check()
      if (batch.last === null) return
      batchSinceMs ??= nowMs
      const isFull = batch.rows >= settings.flushRows
      if (!isFull && nowMs - batchSinceMs < settings.flushEveryMs) return
      if (isFull && writing !== null) await writing
      start()
    },
    async flush() {
      // A write that failed since the last call must not pass for a stored one: a checkpoint follows.
      check()
      while (writing !== null || batch.last !== null) {
        start()
        await writing
        check()
      }
    },
    get flushedSeq() {
      return flushedSeq
    },
  }
}
