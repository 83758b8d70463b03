/** Brings the store up to the blocks that were applied when a query began, as far as that takes no longer than a moment. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../core/store/port.js'
import { loadProgress } from '../memory/load-chain.js'
import type { Memory } from '../memory/memory.js'
import { NOTHING_APPLIED } from '../memory/served-chain.js'
import type { UntilPushed } from '../pushed-positions.js'

export type PositionDeps = {
  memory: Pick<Memory, 'chains' | 'trimStored'>
  store: Store
  /** Stores a chain's waiting rows now. Undefined: another process does, in short batches. */
  flush: ((chain: string) => Promise<void>) | undefined
  untilPushed: UntilPushed
  nowMs: () => number
}

type Position = { epoch: number; seq: number }

const MAX_WAIT_MS = 2_000
/** Small batches make work for the store: queries that begin within this time share one. */
const FLUSH_EVERY_MS = 250

/** Resolves with the seq of each chain up to which the store has everything. Memory has dropped what is stored by then. */
export type UntilStored = () => Promise<Map<string, number>>

export function createUntilStored({ memory, store, flush, untilPushed, nowMs }: PositionDeps): UntilStored {
  let flushing: Promise<unknown> | undefined
  let flushedAtMs = Number.NEGATIVE_INFINITY

  async function flushChains(chains: readonly string[]): Promise<void> {
    await sleep(Math.max(0, flushedAtMs + FLUSH_EVERY_MS - nowMs()))
    flushedAtMs = nowMs()
    if (flush !== undefined) await Promise.allSettled(chains.map((chain) => flush(chain)))
  }

  function flushTogether(chains: readonly string[]): Promise<unknown> {
    flushing ??= flushChains(chains).finally(() => {
      flushing = undefined
    })
    return flushing
  }

  return async () => {
    const deadlineMs = nowMs() + MAX_WAIT_MS
    await Promise.race([untilPushed(), sleep(MAX_WAIT_MS)])
    const applied = new Map(
      memory
        .chains()
        .flatMap((state) =>
          state.seq === NOTHING_APPLIED ? [] : [[state.chain, { epoch: state.epoch, seq: state.seq }]],
        ),
    )
    for (;;) {
      const progress = await loadProgress(store)
      memory.trimStored(progress)
      const stored = new Map(progress.map((row): [string, Position] => [row.chain, row]))
      const behind = [...applied].flatMap(([chain, position]) => (isBefore(stored.get(chain), position) ? [chain] : []))
      const leftMs = deadlineMs - nowMs()
      if (behind.length === 0 || leftMs <= 0) return new Map([...stored].map(([chain, { seq }]) => [chain, seq]))
      // One that runs already may have begun before these blocks were applied: then there is another turn.
      await Promise.race([flushTogether(behind), sleep(leftMs)])
    }
  }
}

function isBefore(stored: Position | undefined, applied: Position): boolean {
  if (stored === undefined) return true
  return stored.epoch < applied.epoch || (stored.epoch === applied.epoch && stored.seq < applied.seq)
}
