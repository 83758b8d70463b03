/**
 * Loads what a replay has stored before its chain is switched to it. The chain's pushes wait for serve after a switch: then only
 * what the last blocks changed is left to load.
 */
import { createReplays } from '../../core/coordination/replays.js'
import type { EventLog } from '../../core/log/port.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Store } from '../../core/store/port.js'
import { replayDatabase } from '../../core/store/tables.js'
import { loadProgressOf, loadStates, type ProgressRow } from './load-chain.js'
import { loadOpenCandles, loadRecentTrades, restoreSeenAt } from './load-recent.js'
import { createServedChain, type Keeps, type ServedChain } from './served-chain.js'

export type PreparedEpochs = {
  /** Follows the replays from now on. */
  start(): Promise<void>
  /** The chain as the store has it now, in this epoch; undefined if it was not prepared. */
  take(chain: string, epoch: number): Promise<ServedChain | undefined>
  stop(): Promise<void>
}

type PrepareDeps = { log: EventLog; store: Store; keeps: Keeps; logger: Logger }

/** `progress`: it has every row up to there. */
type Prepared = { state: ServedChain; progress: ProgressRow }

export function createPreparedEpochs({ log, store, keeps, logger }: PrepareDeps): PreparedEpochs {
  const replays = createReplays(log, { logger })
  const preparing = new Map<string, Promise<Prepared | undefined>>()

  replays.onChange((chain, { phase, fromCheckpoint }) => {
    if (phase === 'ready' && fromCheckpoint !== true)
      preparing.set(
        chain,
        prepareChain(store, chain, keeps).catch((error: unknown) => {
          logger.warn('cannot load a replay before the chain is switched to it', { chain, error })
          return undefined
        }),
      )
    else if (phase !== 'switching' && phase !== 'cleaning') preparing.delete(chain)
  })

  return {
    start: () => replays.load(),
    async take(chain, epoch) {
      const prepared = await preparing.get(chain)
      preparing.delete(chain)
      return prepared?.state.epoch === epoch ? loadRest(store, prepared) : undefined
    },
    stop: () => replays.close(),
  }
}

async function prepareChain(store: Store, chain: string, keeps: Keeps): Promise<Prepared | undefined> {
  const from = { database: replayDatabase(store.database, chain) }
  const progress = await loadProgressOf(store, chain, from)
  if (progress === undefined) return undefined
  const state = createServedChain(chain, keeps)
  await loadStates(store, state, progress, from)
  if (keeps.pushes) await loadOpenCandles(store, chain, state.open, progress, from)
  return { state, progress }
}

/** The rows of the replay are in the live tables now. */
async function loadRest(store: Store, { state, progress: before }: Prepared): Promise<ServedChain | undefined> {
  const progress = await loadProgressOf(store, state.chain)
  // Candles that had closed are open again after a reorg to an earlier time.
  if (progress === undefined || progress.epoch !== state.epoch || progress.now < before.now) return undefined
  const from = { since: before.version }
  await loadStates(store, state, progress, from)
  await restoreSeenAt(store, state, progress.version)
  if (state.keeps.pushes) await loadOpenCandles(store, state.chain, state.open, progress, from)
  if (state.keeps.history) await loadRecentTrades(store, state, progress.version, progress.final_now)
  return state
}
