/**
 * Switches a chain to a replay of it: the replay is folded up to the block where the live fold stopped, its rows are moved into
 * the live tables, and its checkpoint takes the place of the live one. A crash at any moment leaves one of two states: not begun,
 * or to be finished before the chain is folded again.
 */
import { isDue, type Replay, type Replays } from '../../core/coordination/replays.js'
import type { ChainFacts, ChainMoney } from '../../core/domain/chains.js'
import { blocksTopic } from '../../core/log/port.js'
import { isRetryable } from '../../core/runtime/backoff.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Store } from '../../core/store/port.js'
import { rowVersion } from '../../core/store/tables.js'
import { type ChainPipeline, openChainPipeline, type PipelineDeps, storedProgress } from '../chain-pipeline.js'
import { readMeta } from '../checkpoint/restore-state.js'
import type { StateStore } from '../checkpoint/state-store.js'
import { foldFingerprint, lastUpdate } from '../epoch.js'
import { deleteOlderEpochs } from '../retention.js'
import { foldUntil } from './fold-until.js'
import { dropReplayedRows, hasReplayedRows, moveReplayedRows } from './replayed-rows.js'

/** Where replays are, beside the live chain. */
export type ReplayParts = {
  replays: Replays
  /** Wall clock when the configuration was read: a replay that was ready later may have newer money. */
  configuredMs: number
  /** The checkpoint of the chain's replay. */
  openState(chain: string): Promise<StateStore>
  /** Puts that checkpoint in the place of the live one; both are closed. Does nothing if there is none. */
  installState(chain: string): void
  /** The store whose tables have the replay's rows. */
  openStore(chain: string): Promise<Store>
  /** Called before tables are dropped. */
  beforeDrop?: () => void
}

export type SwitchDeps = Pick<PipelineDeps, 'log' | 'codec' | 'store' | 'settings'> & {
  parts: ReplayParts
  facts: ChainFacts
  generation: number
  openState(chain: string): Promise<StateStore>
  logger: Logger
}

/** With the money of a replay that was ready after the configuration was read. */
export function factsWithReplay(facts: ChainFacts, { replays, configuredMs }: ReplayParts): ChainFacts {
  const replay = replays.of(facts.chain)
  if (replay?.readyMs === undefined || replay.readyMs < configuredMs) return facts
  if (replay.phase === 'refused' || replay.phase === 'abandoned' || replay.phase === 'folding') return facts
  return withMoney(facts, replay.money)
}

/** Switches if a replay of the chain is ready. The live fold of the chain must not run. True: it was switched. */
export async function switchToReplay(deps: SwitchDeps, chain: string): Promise<boolean> {
  const { parts, logger } = deps
  const { replays } = parts
  const replay = replays.of(chain)
  if (!isDue(replay)) return false
  if (replay.phase === 'ready') {
    const problem = await prepare(deps, chain, replay)
    if (problem !== undefined) {
      logger.error('cannot switch to the replay of a chain', { chain, epoch: replay.epoch, reason: problem })
      await replays.put(chain, { ...replay, phase: 'refused', reason: problem })
      return false
    }
    await replays.put(chain, { ...replay, phase: 'switching' })
  }
  if (await hasReplayedRows(deps.store, chain)) await moveReplayedRows(deps.store, chain)
  parts.installState(chain)
  await replays.put(chain, { ...replay, phase: 'cleaning' })
  logger.info('switched to the replay of a chain', { chain, epoch: replay.epoch })
  return true
}

/** Why it cannot be switched to. What may work later is thrown. */
async function prepare(deps: SwitchDeps, chain: string, replay: Replay): Promise<string | undefined> {
  try {
    return (await problemOf(deps, chain, replay)) ?? (await catchUp(deps, chain, replay))
  } catch (error) {
    if (isRetryable(error)) throw error
    return error instanceof Error ? error.message : String(error)
  }
}

/** Deletes what the switch left behind. The chain may be folded meanwhile. */
export async function cleanAfterSwitch({ parts, store }: Pick<SwitchDeps, 'parts' | 'store'>, chain: string) {
  const replay = parts.replays.of(chain)
  if (replay?.phase !== 'cleaning') return
  parts.beforeDrop?.()
  await dropReplayedRows(store, chain)
  parts.beforeDrop?.()
  await deleteOlderEpochs(store, chain, replay.epoch)
  await parts.replays.put(chain, { ...replay, phase: 'live' })
}

/** Why the replay no longer fits the live chain; undefined if it does. */
async function problemOf(deps: SwitchDeps, chain: string, replay: Replay): Promise<string | undefined> {
  const { parts, store, log, codec, settings, generation } = deps
  const { epoch, fingerprint } = replay
  if (replay.generation !== generation)
    return `it was folded from generation ${replay.generation}, but generation ${generation} is live`
  if (foldFingerprint(factsWithReplay(deps.facts, parts), settings.maxTimeBackS, generation) !== fingerprint)
    return 'its rules or money tokens are not those of this process; restart it with the version and configuration of the replay'
  const live = Math.max((await liveMeta(deps, chain)).epoch, (await lastUpdate(log, codec, chain))?.epoch ?? 0)
  if (live >= epoch) return `the chain was folded again in epoch ${live} meanwhile`
  if (!(await hasReplayedRows(store, chain))) return 'its rows are missing'
  const meta = await withState(parts.openState(chain), async (state) => readMeta(state))
  if (meta === undefined || meta.epoch !== epoch || meta.fingerprint !== fingerprint) return 'its checkpoint is missing'
  const stored = await withStore(parts.openStore(chain), (rows) => storedProgress(rows, chain))
  const isStored = stored !== undefined && rowVersion(stored.epoch, stored.seq) >= rowVersion(meta.epoch, meta.seq)
  return isStored ? undefined : 'some of its rows are missing'
}

/**
 * Folds the replay up to the block that was published last, where its epoch continues: what was pushed is not pushed again. Both
 * folds apply the same records, so that the same seq is the same block.
 */
async function catchUp(deps: SwitchDeps, chain: string, replay: Replay): Promise<string | undefined> {
  const { parts, log, codec } = deps
  const live = await liveMeta(deps, chain)
  const published = await lastUpdate(log, codec, chain)
  const until = {
    position: Math.max(live.position, replay.position ?? 0),
    seq: published?.epoch === live.epoch ? published.seq : 0,
  }
  return withStore(parts.openStore(chain), async (store) => {
    // A version that was installed meanwhile may have other tables.
    await store.migrate()
    return withState(parts.openState(chain), async (stateStore) => {
      const meta = readMeta(stateStore)
      if (meta !== undefined && meta.position >= until.position && meta.seq >= until.seq) return undefined
      const pipeline = await openReplayPipeline({ ...deps, store, stateStore }, replay)
      await foldUntil(log, blocksTopic(chain, replay.generation), pipeline, until)
      if (pipeline.stopped !== null) return pipeline.stopped.message
      await pipeline.checkpoint()
      return undefined
    })
  })
}

export function openReplayPipeline(
  deps: Pick<PipelineDeps, 'log' | 'codec' | 'store' | 'settings' | 'stateStore' | 'facts'>,
  { epoch, generation, money }: Replay,
): Promise<ChainPipeline> {
  const { log, codec, store, settings, stateStore } = deps
  const facts = withMoney(deps.facts, money)
  return openChainPipeline({ log, codec, store, settings, stateStore, facts, generation, beside: { epoch } })
}

function withMoney(facts: ChainFacts, money: ChainMoney): ChainFacts {
  const { anchor: _anchor, native: _native, ...others } = facts
  return { ...others, ...money }
}

/** Where the live fold stopped. */
function liveMeta({ openState }: SwitchDeps, chain: string): Promise<{ epoch: number; position: number }> {
  return withState(openState(chain), async (state) => readMeta(state) ?? { epoch: 0, position: 0 })
}

async function withState<T>(opening: Promise<StateStore>, use: (state: StateStore) => Promise<T>): Promise<T> {
  const state = await opening
  try {
    return await use(state)
  } finally {
    await state.close()
  }
}

async function withStore<T>(opening: Promise<Store>, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await opening
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
