/** Which records of the log apply: those that continue the head. What was applied before is dropped; the rest stops the chain. */
import { DextapeError } from '../core/domain/errors.js'
import type { Block, Retract } from '../core/domain/records.js'
import { foldBlock } from './fold/block-fold.js'
import type { FoldResult } from './fold/result.js'
import { canRetractTo, foldRetract } from './fold/undo.js'
import type { ChainState } from './state/chain-state.js'

export type ChainRecord = { kind: 'block'; block: Block } | { kind: 'retract'; retract: Retract }

/** All records ever applied, orphaned ones too, by height. */
export interface AppliedHistory {
  has(number: number, name: string): boolean
  add(number: number, name: string): void
}

/** Applies a record; undefined when it had been applied before. */
export function applyRecord(state: ChainState, history: AppliedHistory, record: ChainRecord): FoldResult | undefined {
  return acceptRecord(state, history, record)?.()
}

/**
 * The fold of a record that continues the chain; undefined when it had been applied before. Throws for a record that does
 * not fit, while the state is still unchanged: only the returned function changes it.
 */
export function acceptRecord(
  state: ChainState,
  history: AppliedHistory,
  record: ChainRecord,
): (() => FoldResult) | undefined {
  return record.kind === 'block'
    ? acceptBlock(state, history, record.block)
    : acceptRetract(state, history, record.retract)
}

function acceptBlock(state: ChainState, history: AppliedHistory, block: Block): (() => FoldResult) | undefined {
  const { head } = state
  if (head !== null && block.parent_hash !== head.hash) {
    if (history.has(block.number, block.hash)) return undefined
    throw doesNotFit(
      state,
      block.number,
      `a block on top of ${head.number} ${head.hash}`,
      `${block.number} ${block.hash} on top of ${block.parent_hash}`,
    )
  }
  if (head !== null && block.number <= head.number) {
    throw doesNotFit(state, block.number, `a number above ${head.number}`, `${block.number}`)
  }
  const { maxTimeBackS } = state.settings
  if (block.time < state.nowS - maxTimeBackS) {
    throw new DextapeError({
      code: 'time_back',
      what: 'A block lies too far behind the chain’s time',
      where: { chain: state.facts.chain, block: block.number },
      expected: `a time of ${state.nowS - maxTimeBackS} or later`,
      got: String(block.time),
      fix: 'Check the source; raise max_time_back_s if the chain really does this',
    })
  }
  return () => {
    const result = foldBlock(state, block)
    history.add(block.number, block.hash)
    return result
  }
}

function acceptRetract(state: ChainState, history: AppliedHistory, retract: Retract): (() => FoldResult) | undefined {
  const name = `${retract.from_hash}>${retract.to_hash}`
  if (state.head?.hash !== retract.from_hash) {
    if (history.has(retract.from_number, name)) return undefined
    const head = state.head === null ? 'no head yet' : `a retract of ${state.head.number} ${state.head.hash}`
    throw doesNotFit(state, retract.from_number, head, `${retract.from_number} ${retract.from_hash}`)
  }
  if (!canRetractTo(state, retract.to_hash)) {
    throw new DextapeError({
      code: 'retract_too_deep',
      what: 'A retract reaches below what can be undone',
      where: { chain: state.facts.chain, block: retract.to_number },
      expected: `a block after ${state.finalizedNumber}, the last final one, among the last ${state.journals.length}`,
      got: `${retract.to_number} ${retract.to_hash}`,
      fix: 'A reorg below finality needs the chain’s history anew: `dextape backfill --chain C` writes it as a new generation',
    })
  }
  return () => {
    const result = foldRetract(state, retract.to_hash)
    history.add(retract.from_number, name)
    return result
  }
}

function doesNotFit(state: ChainState, block: number, expected: string, got: string): DextapeError {
  return new DextapeError({
    code: 'block_does_not_fit',
    what: 'A block does not continue the chain',
    where: { chain: state.facts.chain, block },
    expected,
    got,
    fix: 'A block is missing, or the source did not announce a reorg; publish what is missing and restart',
  })
}
