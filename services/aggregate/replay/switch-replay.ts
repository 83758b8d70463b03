/**
 * Switches a chain to a replay of it: the replay is folded up to the block where the live fold stopped, its rows are moved into
 * the live tables, and its checkpoint takes the place of the live one. A crash at any moment leaves one of two states: not begun,
 * or to be finished before the chain is folded again.
 */
import { isDue, type Replay, type Replays } from '../../core/coordination/replays.js'
import type { ChainFacts } from '../../core/domain/chains.js'
import { DextapeError } from '../../core/domain/errors.js'
import { isSameMoney, withMoney } from '../../core/domain/money.js'
import { blocksTopic } from '../../core/log/port.js'
import { isRetryable } from '../../core/runtime/backoff.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Store } from '../../core/store/port.js'
import { rowVersion } from '../../core/store/tables.js'
import { type ChainPipeline, openChainPipeline, type PipelineDeps, storedProgress } from '../chain-pipeline.js'
import { readMeta } from '../checkpoint/restore-state.js'
import { whyOtherFold } from '../checkpoint/same-fold.js'
import type { StateStore } from '../checkpoint/state-store.js'
import { foldFingerprint, lastUpdate } from '../epoch.js'
import { deleteOlderEpochs } from '../retention.js'
import { foldUntil } from './fold-until.js'
import { factsWithReplay, moneyAfter } from './replayed-money.js'
import { dropReplayedRows, hasReplayedRows, moveReplayedRows } from './replayed-rows.js'

/** Where replays are, beside the live chain. */
export type ReplayParts = {
  replays: Replays
  /** The checkpoint of the chain's replay in this epoch. */
  openState(chain: string, epoch: number): Promise<StateStore>
  /** Puts that checkpoint in the place of the live one; both are closed. Does nothing if it is there. */
  installState(chain: string, epoch: number): Promise<void>
  /** Deletes that checkpoint, unless it is the live one. */
  dropState(chain: string, epoch: number): Promise<void>
  /** Deletes the checkpoint that was live before. */
  dropReplacedState(chain: string): Promise<void>
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

/** Switches if a replay of the chain is ready. The live fold of the chain must not run. True: it was switched. */
export async function switchToReplay(deps: SwitchDeps, chain: string): Promise<boolean> {
  const { parts, logger } = deps
  const { replays } = parts
  await replays.load()
  const replay = replays.of(chain)
  if (!isDue(replay)) return false
  if (replay.phase === 'ready') {
    const isContinued = replay.fromCheckpoint === true
    const problem = isContinued ? await whyNotContinued(deps, chain, replay) : await prepare(deps, chain, replay)
    await replays.load()
    // A process that had the chain before, or has it now, is further.
    if (replays.of(chain)?.phase !== 'ready') return switchToReplay(deps, chain)
    if (problem !== undefined) {
      logger.error('cannot switch to the replay of a chain', { chain, epoch: replay.epoch, reason: problem })
      await replays.put(chain, { ...replay, phase: 'refused', reason: problem })
      return false
    }
    const phase = isContinued ? 'live' : 'switching'
    await replays.putWithMoney(chain, { ...replay, phase }, moneyAfter(deps.facts, replays, replay))
    if (isContinued) return true
  }
  if (await finishSwitch(deps, chain, replay.epoch)) {
    await replays.put(chain, { ...replay, phase: 'cleaning' })
    logger.info('switched to the replay of a chain', { chain, epoch: replay.epoch })
  }
  return true
}

/** False: another process has the chain now and finished the switch. What comes later, such as another replay, is not touched. */
async function finishSwitch({ parts, store }: SwitchDeps, chain: string, epoch: number): Promise<boolean> {
  const isUnfinished = () => isIn(parts, chain, { phase: 'switching', epoch })
  try {
    if (await hasReplayedRows(store, chain)) await moveReplayedRows(store, chain, isUnfinished)
    if (await isUnfinished()) await parts.installState(chain, epoch)
  } catch (error) {
    // The other process has deleted the rows that were to be moved.
    if (await isUnfinished()) throw error
  }
  return isUnfinished()
}

/** As the log has it now: a process that was frozen meanwhile may have lost the chain. */
async function isIn({ replays }: ReplayParts, chain: string, { phase, epoch }: Pick<Replay, 'phase' | 'epoch'>) {
  await replays.load()
  const now = replays.of(chain)
  return now?.phase === phase && now.epoch === epoch
}

/** Why it cannot be switched to. What may work later is thrown. */
async function prepare(deps: SwitchDeps, chain: string, replay: Replay): Promise<string | undefined> {
  try {
    const live = await liveMeta(deps, chain)
    return await withState(
      deps.parts.openState(chain, replay.epoch),
      async (state) =>
        (await problemOf(deps, chain, replay, live, state)) ?? (await catchUp(deps, chain, replay, live, state)),
    )
  } catch (error) {
    const isTakenOver = error instanceof DextapeError && error.code === 'fenced'
    if (isTakenOver || isRetryable(error)) throw error
    return error instanceof Error ? error.message : String(error)
  }
}

/** Why the live fold cannot continue with the money of the replay. */
function whyNotContinued(deps: SwitchDeps, chain: string, { money, fingerprint }: Replay): Promise<string | undefined> {
  const { settings, generation, facts } = deps
  const wanted = { facts: withMoney(facts, money), maxTimeBackS: settings.maxTimeBackS, generation }
  return withState(deps.openState(chain), async (state) => {
    if (foldFingerprint(wanted.facts, wanted.maxTimeBackS, generation) !== fingerprint)
      return 'its rules are not those of this process; restart it with the version of the replay'
    const meta = readMeta(state)
    return meta === undefined ? 'the chain has no checkpoint yet' : whyOtherFold(state, meta, wanted)
  })
}

/** Deletes what the switch left behind. The chain may be folded meanwhile. */
export async function cleanAfterSwitch({ parts, store }: Pick<SwitchDeps, 'parts' | 'store'>, chain: string) {
  const replay = parts.replays.of(chain)
  if (replay?.phase !== 'cleaning') return
  const steps = [
    () => dropReplayedRows(store, chain),
    () => deleteOlderEpochs(store, chain, replay.epoch),
    () => parts.dropReplacedState(chain),
    () => parts.replays.put(chain, { ...replay, phase: 'live' }),
  ]
  for (const step of steps) {
    if (!(await isIn(parts, chain, replay))) return
    parts.beforeDrop?.()
    await step()
  }
}

/** Why the replay no longer fits the live chain; undefined if it does. */
async function problemOf(
  deps: SwitchDeps,
  chain: string,
  replay: Replay,
  { epoch: liveEpoch, fingerprint: liveFingerprint }: LiveMeta,
  state: StateStore,
): Promise<string | undefined> {
  const { parts, store, log, codec, settings, generation } = deps
  const { epoch, fingerprint } = replay
  if (replay.generation !== generation)
    return `it was folded from generation ${replay.generation}, but generation ${generation} is live`
  const printOf = (facts: ChainFacts) => foldFingerprint(facts, settings.maxTimeBackS, generation)
  const inUse = factsWithReplay(deps.facts, parts.replays)
  // Money that was configured after the chain was folded last is not what this replay was made to replace.
  const isNewer = liveFingerprint !== undefined && printOf(inUse) !== liveFingerprint
  if (printOf(withMoney(inUse, replay.money)) !== fingerprint || (isNewer && !isSameMoney(inUse, replay.money)))
    return 'its rules or money tokens are not those of this process; restart it with the version and configuration of the replay'
  const live = Math.max(liveEpoch, (await lastUpdate(log, codec, chain))?.epoch ?? 0)
  if (live >= epoch) return `the chain was folded again in epoch ${live} meanwhile`
  if (!(await hasReplayedRows(store, chain))) return 'its rows are missing'
  const meta = readMeta(state)
  if (meta === undefined || meta.epoch !== epoch || meta.fingerprint !== fingerprint) return 'its checkpoint is missing'
  const stored = await withStore(parts.openStore(chain), (rows) => storedProgress(rows, chain))
  const isStored = stored !== undefined && rowVersion(stored.epoch, stored.seq) >= rowVersion(meta.epoch, meta.seq)
  return isStored ? undefined : 'some of its rows are missing'
}

/**
 * Folds the replay up to the block that was published last, where its epoch continues: what was pushed is not pushed again. Both
 * folds apply the same records, so that the same seq is the same block.
 */
async function catchUp(
  deps: SwitchDeps,
  chain: string,
  replay: Replay,
  live: LiveMeta,
  stateStore: StateStore,
): Promise<string | undefined> {
  const { parts, log, codec } = deps
  const published = await lastUpdate(log, codec, chain)
  const until = {
    position: Math.max(live.position, replay.position ?? 0),
    seq: published?.epoch === live.epoch ? published.seq : 0,
  }
  return withStore(parts.openStore(chain), async (store) => {
    // A version that was installed meanwhile may have other tables.
    await store.migrate()
    const meta = readMeta(stateStore)
    if (meta !== undefined && meta.position >= until.position && meta.seq >= until.seq) return undefined
    const pipeline = await openReplayPipeline({ ...deps, store, stateStore }, replay)
    await foldUntil(log, blocksTopic(chain, replay.generation), pipeline, until)
    if (pipeline.stopped !== null) return pipeline.stopped.message
    await pipeline.checkpoint()
    return undefined
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

/** Where the live fold stopped. */
type LiveMeta = { epoch: number; position: number; fingerprint?: string }

/** On a cluster this claims the chain: its earlier owner can no longer checkpoint. */
function liveMeta({ openState }: SwitchDeps, chain: string): Promise<LiveMeta> {
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
