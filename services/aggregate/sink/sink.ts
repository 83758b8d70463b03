/** Batches rows and writes them to the store, one batch at a time behind the fold. */
import { inTurns } from '../../core/runtime/in-turns.js'
import type { Store } from '../../core/store/port.js'
import type { FoldResult } from '../fold/block-changes.js'
import { encodingRows, type RowFacts } from './encode-rows.js'
import { RowBatch } from './row-batch.js'

/**
 * A batch is written when its first row is `flushEveryMs` old, or when it has `flushRows`. Rows that the next batch may write again
 * do not count, up to another `flushRows`: with many pairs most rows are such, and larger batches write fewer of them twice.
 */
export type SinkSettings = { flushEveryMs: number; flushRows: number }

export type Sink = {
  /** `onStored`: once its rows are written. */
  add(result: FoldResult, onStored?: () => void): void
  /** Starts writing when the batch is due and none is being written; waits only when the batch is too large. */
  flushWhenDue(nowMs: number): Promise<void>
  /** Writes everything added so far; up to an update where more may be added meanwhile. */
  flush(toSeq?: number): Promise<void>
  /** Rows that wait for their batch. */
  readonly waitingRows: number
  /** Time spent waiting for the store before the fold could go on. */
  readonly waitMs: number
  /** Seq of the last update whose rows are written. */
  readonly flushedSeq: number
  /** Number of the last block whose rows are written. */
  readonly flushedBlock: number | null
}

/** `storedSeq`, `storedBlock`: after a restart, the update and the block up to which rows are already stored. */
export function createSink(
  chain: string,
  store: Store,
  facts: RowFacts,
  settings: SinkSettings,
  storedSeq: number,
  storedBlock: number | null = null,
  onWritten: (rows: number, ms: number) => void = () => {},
): Sink {
  let batch = new RowBatch(chain)
  /** The memory of a stored batch: new memory is dear, and V8 collects all garbage after every 64 MB of it. */
  let spare: RowBatch | undefined
  let writing: Promise<void> | null = null
  let failure: unknown = null
  /** When the batch got its first row, as far as `flushWhenDue` saw. */
  let batchSinceMs: number | null = null
  let waiters: (() => void)[] = []
  let waitMs = 0
  let flushedSeq = storedSeq
  let flushedBlock = storedBlock

  async function write(full: RowBatch, stored: readonly (() => void)[]): Promise<void> {
    const startedMs = performance.now()
    const inserts = await inTurns(encodingRows(chain, full, facts))
    for (const { table, rows } of inserts) await store.insertRows(table, rows)
    onWritten(full.rows, performance.now() - startedMs)
    for (const onStored of stored) onStored()
    flushedSeq = full.last?.seq ?? flushedSeq
    flushedBlock = full.last?.number ?? flushedBlock
    if (!full.isTooLarge) {
      full.clear()
      spare = full
    }
  }

  function start(): void {
    if (writing !== null || batch.last === null) return
    const full = batch
    batch = spare ?? new RowBatch(chain)
    spare = undefined
    batchSinceMs = null
    const stored = waiters
    waiters = []
    writing = write(full, stored)
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

  async function waitForStore(): Promise<void> {
    const startedMs = performance.now()
    await writing
    waitMs += performance.now() - startedMs
  }

  return {
    add(result, onStored) {
      batch.add(result)
      if (onStored !== undefined) waiters.push(onStored)
    },
    async flushWhenDue(nowMs) {
      check()
      if (batch.last === null) return
      batchSinceMs ??= nowMs
      const isFull = batch.rows >= settings.flushRows + Math.min(batch.unsettledRows, settings.flushRows)
      if (!isFull && nowMs - batchSinceMs < settings.flushEveryMs) return
      if (isFull && writing !== null) await waitForStore()
      start()
    },
    async flush(toSeq = Number.POSITIVE_INFINITY) {
      // A write that failed since the last call must not pass for a stored one: a checkpoint follows.
      check()
      while (flushedSeq < toSeq && (writing !== null || batch.last !== null)) {
        start()
        await writing
        check()
      }
    },
    get waitingRows() {
      return batch.rows
    },
    get waitMs() {
      return waitMs
    },
    get flushedSeq() {
      return flushedSeq
    },
    get flushedBlock() {
      return flushedBlock
    },
  }
}
