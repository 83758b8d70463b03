/** Writes checkpoints and lets idle pairs rest once they are written. */
import type { ChainState } from '../state/fold-state.js'
import { PAIR } from '../state/pairs.js'
import { WALLET_REACH_S } from '../state/rolling-windows.js'
import type { KeptHistory } from './applied-history.js'
import { captureImage } from './state-image.js'
import type { StateStore } from './state-store.js'

const REST_EVERY_S = 3600

export class CheckpointKeeper {
  /** Balances captured and not yet written: the store does not have them, the fold has let them go. */
  readonly pendingBalances = new Map<string, string | null>()
  private journals: number[] = []
  private restedAtS = 0

  constructor(
    private readonly store: StateStore,
    private readonly fingerprint: string,
  ) {}

  resume(journals: readonly number[]): void {
    this.journals = [...journals]
  }

  /** Captures the state now; the returned function writes it, after what it stands on is safe. */
  capture(state: ChainState, history: KeptHistory, position: number): () => Promise<void> {
    for (const [key, balance] of state.balances) this.pendingBalances.set(key, balance)
    const { changes, journals } = captureImage(state, history, this.store, position, this.fingerprint, this.journals)
    state.balances.clear()
    return async () => {
      await this.store.commit(changes)
      this.journals = journals
      this.pendingBalances.clear()
      history.shrink()
      this.restIdlePairs(state)
    }
  }

  /** A pair without a trade in any window costs memory for nothing: its candles wait in the store. */
  private restIdlePairs(state: ChainState): void {
    if (state.finalNowS < this.restedAtS + REST_EVERY_S) return
    this.restedAtS = state.finalNowS
    for (let id = 0; id < state.pairs.length; id += 1) {
      const active = state.pairs.active[id]
      if (active === null || active === undefined || state.changedPairs.has(id)) continue
      const traded = state.pairs.rows.get(id, PAIR.newestTradeAtS)
      if (traded === 0 || traded >= state.finalNowS - WALLET_REACH_S) continue
      active.windows.wallets.dispose()
      state.pairs.active[id] = null
      state.pairs.resting.add(id)
    }
  }
}
