/** The fold of a chain as its checkpoint left it, or a new one in a new epoch. */
import type { ChainFacts } from '../core/domain/chains.js'
import { inTurns } from '../core/runtime/in-turns.js'
import type { Store } from '../core/store/port.js'
import { rowVersion } from '../core/store/tables.js'
import { StoredHistory } from './checkpoint/applied-history.js'
import { CheckpointWriter } from './checkpoint/checkpoint-writer.js'
import { type KeptUpdate, keptUpdate } from './checkpoint/kept-update.js'
import { readMeta, restingState, restoringState } from './checkpoint/restore-state.js'
import { whyOtherFold } from './checkpoint/same-fold.js'
import type { StateStore } from './checkpoint/state-store.js'
import { foldFingerprint } from './epoch.js'
import { deleteOlderEpochs } from './retention.js'
import { type FoldSettings, FoldState } from './state/fold-state.js'

export type ChainFoldDeps = {
  facts: ChainFacts
  /** Generation of the chain's history; 1 by default. */
  generation?: number
  settings: FoldSettings
  store: Store
  stateStore: StateStore
  /** Only this process writes to the store, so it has everything up to the checkpoint unless it is damaged. */
  ownsStore?: boolean
  /** Folds beside the live chain, in this epoch: rows and checkpoints alone, nothing is published. */
  beside?: { epoch: number }
  /** The checkpoint or stored rows are lost: the chain is folded again, in this epoch. */
  onLoss?: (loss: Loss) => void
}

export type Loss = { part: 'state' | 'store'; chain: string; what: string; epoch: number }

export type ChainFold = {
  state: FoldState
  checkpoints: CheckpointWriter
  history: StoredHistory
  /** Of the rules and money it folds with. */
  fingerprint: string
  /** Offset to read next. */
  position: number
  /** Of a fold beside the live one: its last update, which is published when the chain is switched to it. */
  lastUpdateKept: KeptUpdate | undefined
}

/** `publishedEpoch`: of the last update in the log; 0 if there is none. */
export async function openChainFold(deps: ChainFoldDeps, publishedEpoch: number): Promise<ChainFold> {
  const { facts, generation = 1, settings, store, stateStore } = deps
  const { chain } = facts
  const fingerprint = foldFingerprint(facts, settings.maxTimeBackS, generation)
  const checkpoints = new CheckpointWriter(stateStore, fingerprint)
  const resting = restingState(stateStore, checkpoints.pendingBalances)
  const meta = readMeta(stateStore)
  const stored = deps.ownsStore === true ? await storedProgress(store, chain) : undefined
  const isStored = deps.ownsStore !== true || meta === undefined || meta.seq === 0 || !isBehind(stored, meta)
  const wanted = { facts, maxTimeBackS: settings.maxTimeBackS, generation }
  const isSameEpoch = meta !== undefined && isStored && whyOtherFold(stateStore, meta, wanted) === undefined
  const nextEpoch = Math.max(meta?.epoch ?? 0, publishedEpoch, stored?.epoch ?? 0) + 1
  const epoch = isSameEpoch ? meta.epoch : (deps.beside?.epoch ?? nextEpoch)
  if (!isStored)
    deps.onLoss?.({ part: 'store', chain, what: `it has ${chain} up to seq ${stored?.seq ?? 0} of ${meta.seq}`, epoch })
  else if (meta === undefined && publishedEpoch > 0)
    deps.onLoss?.({ part: 'state', chain, what: `the checkpoint of ${chain} is missing`, epoch })
  const history = new StoredHistory(stateStore)
  if (isSameEpoch) {
    const state = await inTurns(restoringState(facts, settings, meta, stateStore, resting))
    checkpoints.resume(meta.journals)
    const { position } = meta
    return { state, checkpoints, history, fingerprint, position, lastUpdateKept: keptUpdate(stateStore) }
  }
  await stateStore.clear()
  if (epoch > 1) await deleteOlderEpochs(store, chain, epoch)
  const state = new FoldState(facts, settings, epoch, resting)
  // An epoch is stored before its first update: a crash before the first checkpoint must not start another.
  await checkpoints.capture(state, history, 0).write()
  return { state, checkpoints, history, fingerprint, position: 0, lastUpdateKept: undefined }
}

type Progress = { epoch: number; seq: number }

/** How far the store has the chain; undefined: it has nothing of it. */
export async function storedProgress(store: Store, chain: string): Promise<Progress | undefined> {
  const [row] = await store.query<Record<keyof Progress, string | number>>(
    'SELECT epoch, seq FROM progress_rows FINAL WHERE chain = {chain:String}',
    { chain },
  )
  return row === undefined ? undefined : { epoch: Number(row.epoch), seq: Number(row.seq) }
}

const isBehind = (stored: Progress | undefined, { epoch, seq }: Progress): boolean =>
  stored === undefined || rowVersion(stored.epoch, stored.seq) < rowVersion(epoch, seq)
