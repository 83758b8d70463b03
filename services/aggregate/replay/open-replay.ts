/** A replay opened by the process that has the chain, to be folded up to the live fold. */
import type { Replay } from '../../core/coordination/replays.js'
import type { ChainFacts } from '../../core/domain/chains.js'
import { isSameMoney, withMoney } from '../../core/domain/money.js'
import type { Store } from '../../core/store/port.js'
import { rowVersion } from '../../core/store/tables.js'
import { storedProgress } from '../chain-fold.js'
import { type ChainPipeline, openChainPipeline, type PipelineDeps } from '../chain-pipeline.js'
import { readMeta } from '../checkpoint/restore-state.js'
import type { StateStore } from '../checkpoint/state-store.js'
import { foldFingerprint, lastUpdate } from '../epoch.js'
import type { SwitchDeps } from './replay-parts.js'
import { factsWithReplay } from './replayed-money.js'
import { hasReplayedRows } from './replayed-rows.js'

/** Where the live fold is, or was when it stopped. */
export type LiveFold = { epoch: number; position: number; fingerprint?: string }

export const liveFoldOf = ({ state, position, fingerprint }: ChainPipeline): LiveFold => ({
  ...{ epoch: state.epoch, position, fingerprint },
})

export type OpenReplay = {
  replay: Replay
  pipeline: ChainPipeline
  state: StateStore
  /** All but the checkpoint. */
  closeRows(): Promise<void>
  close(): Promise<void>
}

/** A text: why it no longer fits the live chain. */
export async function openReplay(deps: SwitchDeps, replay: Replay, live: LiveFold): Promise<OpenReplay | string> {
  const { parts, facts } = deps
  const opened: (StateStore | Store)[] = []
  const close = async () => {
    for (const one of opened.splice(0).reverse()) await one.close()
  }
  try {
    const state = await parts.openState(facts.chain, replay.epoch)
    opened.push(state)
    const unfit = await problemOf(deps, replay, live, state)
    if (unfit !== undefined) return await close().then(() => unfit)
    const store = await parts.openStore(facts.chain)
    opened.push(store)
    if (!(await hasRowsOf(state, store, facts.chain))) return await close().then(() => 'some of its rows are missing')
    // A version that was installed meanwhile may have other tables.
    await store.migrate()
    const pipeline = await openReplayPipeline({ ...deps, store, stateStore: state }, replay)
    const closeRows = async () => {
      if (opened.pop() === store) await store.close()
    }
    return { replay, pipeline, state, closeRows, close: () => pipeline.close().then(close) }
  } catch (error) {
    await close()
    throw error
  }
}

/** It begins again if its rows are lost: those of a store that was rebuilt. */
export function openReplayPipeline(
  deps: Pick<PipelineDeps, 'log' | 'codec' | 'store' | 'settings' | 'stateStore' | 'facts' | 'onLoss'>,
  { epoch, generation, money }: Replay,
): Promise<ChainPipeline> {
  const { log, codec, store, settings, stateStore, onLoss } = deps
  const facts = withMoney(deps.facts, money)
  return openChainPipeline({
    ...{ log, codec, store, settings, stateStore, facts, generation, beside: { epoch }, ownsStore: true },
    ...(onLoss && { onLoss }),
  })
}

async function problemOf(
  deps: SwitchDeps,
  replay: Replay,
  { epoch: liveEpoch, fingerprint: liveFingerprint }: LiveFold,
  state: StateStore,
): Promise<string | undefined> {
  const { parts, store, log, codec, settings, generation, facts } = deps
  const { chain } = facts
  const { epoch, fingerprint } = replay
  if (replay.generation !== generation)
    return `it was folded from generation ${replay.generation}, but generation ${generation} is live`
  const printOf = (one: ChainFacts) => foldFingerprint(one, settings.maxTimeBackS, generation)
  const inUse = factsWithReplay(facts, parts.replays)
  // Money that was configured after the chain was folded last is not what this replay was made to replace.
  const isNewer = liveFingerprint !== undefined && printOf(inUse) !== liveFingerprint
  if (printOf(withMoney(inUse, replay.money)) !== fingerprint || (isNewer && !isSameMoney(inUse, replay.money)))
    return 'its rules or money tokens are not those of this process; restart it with the version and configuration of the replay'
  const live = Math.max(liveEpoch, (await lastUpdate(log, codec, chain))?.epoch ?? 0)
  if (live >= epoch) return `the chain was folded again in epoch ${live} meanwhile`
  if (!(await hasReplayedRows(store, chain))) return 'its rows are missing'
  const meta = readMeta(state)
  if (meta === undefined || meta.epoch !== epoch || meta.fingerprint !== fingerprint) return 'its checkpoint is missing'
  return undefined
}

/** Up to its checkpoint. */
async function hasRowsOf(state: StateStore, store: Store, chain: string): Promise<boolean> {
  const meta = readMeta(state)
  const stored = await storedProgress(store, chain)
  if (meta === undefined || stored === undefined) return false
  return rowVersion(stored.epoch, stored.seq) >= rowVersion(meta.epoch, meta.seq)
}
