/** Expected pushes of a recording, by pair. The seq of a line is its position in the recording, from 1. */
import type { ChainFacts } from '../../../services/core/domain/chains.js'
import type { ReferenceTrade } from '../reference/book.js'
import { isRetract, type RecordingBlock, type RecordingLine } from '../reference/lines.js'
import { type Reference, recompute } from '../reference/recompute.js'

export type ExpectedPush =
  | { kind: 'trade'; seq: number; trade: ReferenceTrade }
  | { kind: 'retract'; seq: number; toBlock: number; ids: string[] }

export type ExpectedPushes = {
  reference: Reference
  /** Pushes of a pair in order, orphaned trades included. */
  of(pair: string): ExpectedPush[]
}

export function deriveExpectedPushes(lines: readonly RecordingLine[], facts: ChainFacts): ExpectedPushes {
  const reference = recompute(lines, facts)
  const byBlock = new Map<string, ReferenceTrade[]>()
  const note = (blocks: readonly RecordingBlock[], { trades }: Reference): void => {
    for (const { hash, number } of blocks) {
      byBlock.set(hash, trades.filter((trade) => trade.block_number === number)) // biome-ignore format: one step a line
    }
  }
  const orphansOf = new Map<number, RecordingBlock[]>()
  const kept: RecordingBlock[] = []
  for (const [at, line] of lines.entries()) {
    if (!isRetract(line)) {
      kept.push(line)
      continue
    }
    const orphans = kept.splice(kept.findIndex(({ hash }) => hash === line.to_hash) + 1)
    orphansOf.set(at, orphans)
    note(orphans, recompute(lines.slice(0, at), facts))
  }
  note(kept, reference)

  function of(pair: string): ExpectedPush[] {
    const tradesIn = (hash: string): ReferenceTrade[] =>
      (byBlock.get(hash) ?? []).filter((trade) => trade.pair === pair)
    return lines.flatMap((line, at): ExpectedPush[] => {
      const seq = at + 1
      if (!isRetract(line)) return tradesIn(line.hash).map((trade) => ({ kind: 'trade', seq, trade }))
      const ids = (orphansOf.get(at) ?? []).flatMap(({ hash }) => tradesIn(hash).map(({ id }) => id))
      return ids.length === 0 ? [] : [{ kind: 'retract', seq, toBlock: line.to_number, ids }]
    })
  }
  return { reference, of }
}
