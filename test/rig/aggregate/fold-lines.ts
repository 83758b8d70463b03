/** Feeds a recording's lines to the fold, without log or store. */
import { type AppliedHistory, applyRecord, type ChainRecord } from '../../../services/aggregate/accept-record.js'
import { StoredHistory } from '../../../services/aggregate/checkpoint/applied-history.js'
import { restingState } from '../../../services/aggregate/checkpoint/restore-state.js'
import { memoryStateStore, type StateStore } from '../../../services/aggregate/checkpoint/state-store.js'
import type { FoldResult } from '../../../services/aggregate/fold/block-changes.js'
import { FoldState } from '../../../services/aggregate/state/fold-state.js'
import type { ChainFacts } from '../../../services/core/domain/chains.js'
import { fullEvent, isRetract, type RecordingLine } from '../reference/lines.js'

export const FOLD_SETTINGS = { maxTimeBackS: 3600, journalBlocks: 4096 }

export type Folding = { state: FoldState; history: AppliedHistory; store: StateStore }

export function startFold(facts: ChainFacts, epoch = 1): Folding {
  const store = memoryStateStore()
  const state = new FoldState(facts, FOLD_SETTINGS, epoch, restingState(store))
  return { state, history: new StoredHistory(store), store }
}

export function chainRecordOf(line: RecordingLine, facts: ChainFacts): ChainRecord {
  if (isRetract(line)) return { kind: 'retract', retract: line }
  const events = line.events.map((event) => fullEvent(event, facts.family))
  return { kind: 'block', block: { ...line, part: 0, last_part: 0, events } }
}

/** The results of the lines that applied. */
export function foldLines({ state, history }: Folding, lines: readonly RecordingLine[]): FoldResult[] {
  const results: FoldResult[] = []
  for (const line of lines) {
    const result = applyRecord(state, history, chainRecordOf(line, state.facts))
    if (result !== undefined) results.push(result)
  }
  return results
}
