/** A fold that crashes anywhere and resumes from its last checkpoint. */
import { applyRecord } from '../../../services/aggregate/accept-record.js'
import { StoredHistory } from '../../../services/aggregate/checkpoint/applied-history.js'
import { type CapturedCheckpoint, CheckpointWriter } from '../../../services/aggregate/checkpoint/checkpoint-writer.js'
import { readMeta, restingState, restoringState } from '../../../services/aggregate/checkpoint/restore-state.js'
import { memoryStateStore, type StateStore } from '../../../services/aggregate/checkpoint/state-store.js'
import type { FoldResult } from '../../../services/aggregate/fold/block-changes.js'
import { FoldState } from '../../../services/aggregate/state/fold-state.js'
import type { ChainFacts } from '../../../services/core/domain/chains.js'
import { atOnce } from '../../../services/core/runtime/in-turns.js'
import type { Random } from '../market/random.js'
import type { RecordingLine } from '../reference/lines.js'
import { chainRecordOf, FOLD_SETTINGS } from './fold-lines.js'

type Run = {
  keeper: CheckpointWriter
  state: FoldState
  history: StoredHistory
  at: number
  pending: { captured: CapturedCheckpoint; at: number } | undefined
}

const STEPS_PER_LINE = 4

/**
 * Applies the lines, with a checkpoint captured after every `checkpointEvery`, copied step by step while further lines are
 * applied, and written up to that many lines later. After each number of lines in `crashAfter` the fold resumes from the
 * last one written. Results of repeated lines replace the earlier ones.
 */
export async function foldThroughCrashes(
  facts: ChainFacts,
  lines: readonly RecordingLine[],
  checkpointEvery: number,
  crashAfter: ReadonlySet<number>,
  random: Random,
): Promise<{ results: FoldResult[]; repeated: FoldResult[][]; store: StateStore }> {
  const store = memoryStateStore()
  const bySeq = new Map<number, FoldResult[]>()
  const crashes = new Set(crashAfter)

  function start(): Run {
    const keeper = new CheckpointWriter(store, 'test')
    const resting = restingState(store, keeper.pendingBalances)
    const meta = readMeta(store)
    const state =
      meta === undefined
        ? new FoldState(facts, FOLD_SETTINGS, 1, resting)
        : atOnce(restoringState(facts, FOLD_SETTINGS, meta, store, resting))
    if (meta !== undefined) keeper.resume(meta.journals)
    return { keeper, state, history: new StoredHistory(store), at: meta?.position ?? 0, pending: undefined }
  }

  let run = start()
  while (run.at < lines.length) {
    const result = applyRecord(run.state, run.history, chainRecordOf(lines[run.at] as RecordingLine, facts))
    run.at += 1
    if (result !== undefined) bySeq.set(result.update.seq, [...(bySeq.get(result.update.seq) ?? []), result])
    if (run.at % checkpointEvery === 0) {
      const captured = run.keeper.capture(run.state, run.history, run.at)
      run.pending = { captured, at: run.at + Math.floor(random.next() * checkpointEvery) }
    }
    if (run.pending !== undefined && run.at >= run.pending.at) {
      await run.pending.captured.write()
      run.pending = undefined
    }
    for (let steps = random.next() * STEPS_PER_LINE; steps > 0; steps -= 1) run.pending?.captured.copy.next()
    if (crashes.delete(run.at)) run = start()
  }
  const all = [...bySeq.keys()].sort((a, b) => a - b).map((seq) => bySeq.get(seq) as FoldResult[])
  return { results: all.map((versions) => versions.at(-1) as FoldResult), repeated: all, store }
}
