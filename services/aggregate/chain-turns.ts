/**
 * Records and flushes of one chain run one after another, and a checkpoint is captured between two blocks. It is written beside the
 * next ones: a push never waits for the store.
 */
import type { LogRecord } from '../core/log/port.js'
import type { ChainPipeline } from './chain-pipeline.js'
import { createDailyRetention, type RetentionDeps, type RetentionSettings } from './retention.js'

export type TurnSettings = RetentionSettings & { checkpointEveryMs: number }

export type ChainTurns = {
  /** Folds and publishes a batch; flushes and checkpoints what is due. */
  process(records: readonly LogRecord[]): Promise<void>
  /** Flushes and checkpoints what is due while the log has nothing new. */
  tick(): Promise<void>
  /** Stores what is folded but not stored yet, at most once per second: a reader needs rows that no memory has. */
  flush(): Promise<void>
  /** Deletes what is older than its retention, at once. */
  retain(): Promise<void>
  /** Stores and checkpoints everything folded so far. */
  finish(): Promise<void>
}

/** Small enough that a stop, a checkpoint or a request never waits long for a batch to be folded. */
export const FOLD_BATCH = { maxRecords: 128, maxBytes: 256 * 1024 }
/** A checkpoint takes longer the more pairs changed: with this many a stop still ends within its time. */
export const CHECKPOINT_PAIRS = 24_000

const SHORTEST_FLUSH_MS = 1000

export function createChainTurns(
  deps: RetentionDeps & { settings: TurnSettings },
  chain: string,
  pipeline: ChainPipeline,
): ChainTurns {
  const { settings, nowMs } = deps
  const deleteOldData = createDailyRetention(deps, chain)
  let last: Promise<unknown> = Promise.resolve()
  let checkpointedMs = nowMs()
  let checkpointedSeq = pipeline.state.seq
  let isTicking = false
  /** The checkpoint that is being written. */
  let writing: Promise<void> | undefined
  let failure: unknown
  let flushing = { sinceMs: 0, done: Promise.resolve() }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = last.then(work)
    last = next.catch(() => {})
    return next
  }

  /** Captures what is folded so far, and writes it in the background. */
  function startCheckpoint(): void {
    // A chain stopped by a block it could not publish keeps its last checkpoint: the next start folds that block again.
    if (pipeline.state.seq === checkpointedSeq || !pipeline.canCheckpoint) return
    checkpointedSeq = pipeline.state.seq
    checkpointedMs = nowMs()
    const { nowS } = pipeline.state
    writing = pipeline
      .checkpoint()
      .then(() => deleteOldData(nowS))
      .catch((error: unknown) => {
        failure = error
      })
      .finally(() => {
        writing = undefined
      })
  }

  function check(): void {
    if (failure !== undefined) throw failure
  }

  async function writeWhatIsDue(): Promise<void> {
    const isLarge = pipeline.state.changedPairs.size >= CHECKPOINT_PAIRS
    if (isLarge) await writing
    check()
    // A checkpoint flushes. It comes first, so that with equal intervals the rows of an interval are one batch.
    const isDue = nowMs() - checkpointedMs >= settings.checkpointEveryMs
    if ((isDue || isLarge) && writing === undefined) startCheckpoint()
    await pipeline.sink.flushWhenDue(nowMs())
  }

  async function finish(): Promise<void> {
    await writing
    check()
    startCheckpoint()
    await writing
    check()
  }

  return {
    process: (records) =>
      inTurn(async () => {
        await pipeline.process(records)
        await writeWhatIsDue()
      }),
    async tick() {
      check()
      // Everything folded is stored and checkpointed: an idle chain costs nothing.
      if (isTicking || pipeline.state.seq === checkpointedSeq) return
      isTicking = true
      await inTurn(writeWhatIsDue).finally(() => {
        isTicking = false
      })
    },
    flush() {
      const sinceMs = nowMs()
      if (sinceMs - flushing.sinceMs >= SHORTEST_FLUSH_MS)
        flushing = { sinceMs, done: inTurn(async () => pipeline.state.seq).then((seq) => pipeline.sink.flush(seq)) }
      return flushing.done
    },
    retain: () => inTurn(() => createDailyRetention(deps, chain)(pipeline.state.nowS)),
    finish: () => inTurn(finish),
  }
}
