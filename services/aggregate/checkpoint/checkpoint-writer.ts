/** Writes checkpoints, and drops idle pairs from memory once they are written. */
import { atOnce } from '../../core/runtime/in-turns.js'
import type { Balance } from '../state/balances.js'
import { ByHolder } from '../state/by-holder.js'
import type { FoldState } from '../state/fold-state.js'
import { PAIR } from '../state/pairs.js'
import { WALLET_REACH_S } from '../state/rolling-windows.js'
import type { StoredHistory } from './applied-history.js'
import { StateCapture } from './state-image.js'
import type { StateChange, StateStore } from './state-store.js'

const REST_EVERY_S = 3600

export type CapturedCheckpoint = {
  /** Copies the state step by step; blocks can be applied between the steps. */
  copy: Generator<void, void>
  /** Writes it, once the rows it depends on are stored. */
  write(): Promise<void>
}

export class CheckpointWriter {
  /** Balances captured but not yet written: the store does not have them yet, the fold no longer has them. */
  readonly pendingBalances = new ByHolder<Balance | null>()
  private journals: number[] = []
  private restedAtS = 0

  constructor(
    private readonly store: StateStore,
    private readonly fingerprint: string,
  ) {}

  resume(journals: readonly number[]): void {
    this.journals = [...journals]
  }

  /** Captures the state as it is now. `more`: changes that belong to the same commit. */
  capture(
    state: FoldState,
    history: StoredHistory,
    position: number,
    more: readonly StateChange[] = [],
  ): CapturedCheckpoint {
    const { store, fingerprint, pendingBalances } = this
    pendingBalances.take(state.balances)
    const captured = new StateCapture(state, store, pendingBalances, history, {
      ...{ position, fingerprint, keptJournals: this.journals },
    })
    return {
      copy: captured.copy,
      write: async () => {
        atOnce(captured.copy)
        await store.commit([...captured.changes, ...more])
        this.journals = captured.journals
        pendingBalances.clear()
        history.shrink()
        this.restIdlePairs(state)
      },
    }
  }

  /** A pair without a trade in any window need not be in memory: its candles are in the store. */
  private restIdlePairs(state: FoldState): void {
    if (state.finalNowS < this.restedAtS + REST_EVERY_S) return
    this.restedAtS = state.finalNowS
    for (let id = 0; id < state.pairs.length; id += 1) {
      const active = state.pairs.active[id]
      if (active === null || active === undefined || state.changedPairs.has(id)) continue
      const traded = state.pairs.rows.get(id, PAIR.newestTradeAtS)
      if (traded === 0 || traded >= state.finalNowS - WALLET_REACH_S) continue
      active.dispose()
      state.pairs.active[id] = null
      state.pairs.resting.add(id)
    }
  }
}
