/** Which records of the log apply: those that continue the head. Repeated ones are dropped; any other stops the chain. */
import { DextapeError } from '../core/domain/errors.js'
import type { Block, Retract } from '../core/domain/records.js'
import type { FoldResult } from './fold/block-changes.js'
import { foldBlock } from './fold/fold-block.js'
import { canRetractTo, foldRetract } from './fold/fold-retract.js'
import type { FoldState } from './state/fold-state.js'

export type ChainRecord = { kind: 'block'; block: Block } | { kind: 'retract'; retract: Retract }

/** All records ever applied, orphaned ones too, by height. */
export interface AppliedHistory {
  has(number: number, name: string): boolean
  add(number: number, name: string): void
}

/** Applies a record; undefined when it was applied before. */
export function applyRecord(state: FoldState, history: AppliedHistory, record: ChainRecord): FoldResult | undefined {
  return acceptRecord(state, history, record)?.()
}

/**
 * The fold of a record that continues the chain; undefined when it was applied before. Throws for a record that does
 * not continue it, with the state unchanged: only the returned function changes it.
 */
export function acceptRecord(
  state: FoldState,
  history: AppliedHistory,
  record: ChainRecord,
): (() => FoldResult) | undefined {
  return record.kind === 'block'
    ? acceptBlock(state, history, record.block)
    : acceptRetract(state, history, record.retract)
}

function acceptBlock(state: FoldState, history: AppliedHistory, block: Block): (() => FoldResult) | undefined {
  const { head } = state
  if (head !== null && block.parent_hash !== head.hash) {
    if (history.has(block.number, block.hash)) return undefined
    throw notNext(
      state,
      block.number,
      `a block on top of ${head.number} ${head.hash}`,
      `${block.number} ${block.hash} on top of ${block.parent_hash}`,
    )
  }
  if (head !== null && block.number <= head.number) {
    throw notNext(state, block.number, `a number above ${head.number}`, `${block.number}`)
  }
  const { maxTimeBackS } = state.settings
  if (block.time < state.nowS - maxTimeBackS) {
    throw new DextapeError({
      code: 'time_back',
      what: 'Block time is too far behind the chain’s time',
      where: { chain: state.facts.chain, block: block.number },
      expected: `a time of ${state.nowS - maxTimeBackS} or later`,
      got: String(block.time),
      fix: 'Check the source. If the chain really does this, raise fold.max_time_back_s',
    })
  }
  return () => {
    const result = foldBlock(state, block)
    history.add(block.number, block.hash)
    return result
  }
}

function acceptRetract(state: FoldState, history: AppliedHistory, retract: Retract): (() => FoldResult) | undefined {
  const name = `${retract.from_hash}>${retract.to_hash}`
  if (state.head?.hash !== retract.from_hash) {
    if (history.has(retract.from_number, name)) return undefined
    const head = state.head === null ? 'no head yet' : `a retract from ${state.head.number} ${state.head.hash}`
    throw notNext(state, retract.from_number, head, `${retract.from_number} ${retract.from_hash}`)
  }
  if (!canRetractTo(state, retract.to_hash)) {
    throw new DextapeError({
      code: 'retract_too_deep',
      what: 'Reorg below finality: the block to return to can no longer be restored',
      where: { chain: state.facts.chain, block: retract.to_number },
      expected: `a block above ${state.finalizedNumber} (the last final one), among the last ${state.journals.length}`,
      got: `${retract.to_number} ${retract.to_hash}`,
      fix: 'Read the chain’s history again as a new generation: `dextape backfill --chain C`',
    })
  }
  return () => {
    const result = foldRetract(state, retract.to_hash)
    history.add(retract.from_number, name)
    return result
  }
}

function notNext(state: FoldState, block: number, expected: string, got: string): DextapeError {
  return new DextapeError({
    code: 'block_does_not_fit',
    what: 'Block does not continue the chain',
    where: { chain: state.facts.chain, block },
    expected,
    got,
    fix: 'A block is missing, or the source did not announce a reorg. Read the chain’s history again as a new generation: `dextape backfill --chain C`; play a corrected recording into a new data directory',
  })
}
