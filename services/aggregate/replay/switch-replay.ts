/**
 * Switches a chain to a replay of it: the replay is folded up to the block where the live fold stopped, its rows are moved into
 * the live tables, and its checkpoint takes the place of the live one. A crash at any moment leaves one of two states: not begun,
 * or to be finished before the chain is folded again.
 */
import { isDue, type Replay } from '../../core/coordination/replays.js'
import { DextapeError } from '../../core/domain/errors.js'
import { withMoney } from '../../core/domain/money.js'
import { blocksTopic } from '../../core/log/port.js'
import { isRetryable } from '../../core/runtime/backoff.js'
import type { ChainFold } from '../chain-fold.js'
import { readMeta } from '../checkpoint/restore-state.js'
import { whyOtherFold } from '../checkpoint/same-fold.js'
import type { StateStore } from '../checkpoint/state-store.js'
import { foldFingerprint, lastUpdate } from '../epoch.js'
import { deleteOlderEpochs } from '../retention.js'
import type { Approached } from './approach-replay.js'
import { foldUntil } from './fold-until.js'
import { type LiveFold, liveFoldOf, type OpenReplay, openReplay } from './open-replay.js'
import { isIn, type SwitchDeps } from './replay-parts.js'
import { moneyAfter } from './replayed-money.js'
import { dropReplayedRows, hasReplayedRows, moveReplayedRows } from './replayed-rows.js'

/** The fold that the chain was switched to, for the live pipeline to continue, and its checkpoint. */
export type Switched = { fold: ChainFold; state: StateStore }

/**
 * Switches if a replay of the chain is ready. The live fold of the chain must not run. `approached` is closed, unless its fold is
 * returned.
 */
export async function switchToReplay(
  deps: SwitchDeps,
  chain: string,
  approached?: Approached,
): Promise<Switched | undefined> {
  try {
    await deps.parts.replays.load()
    const replay = deps.parts.replays.of(chain)
    if (isDue(replay) && replay.phase === 'ready' && replay.fromCheckpoint !== true) {
      const isOther = approached?.opened.replay.began !== replay.began
      if (isOther) await approached?.opened.close()
      return await switchToReady(deps, replay, isOther ? undefined : approached)
    }
    await approached?.opened.close()
    if (!isDue(replay)) return undefined
    if (replay.phase === 'switching') await finishSwitch(deps, replay)
    else await continueWithMoney(deps, replay)
    return undefined
  } catch (error) {
    await approached?.opened.close()
    throw error
  }
}

async function switchToReady(deps: SwitchDeps, replay: Replay, approached?: Approached): Promise<Switched | undefined> {
  const { parts, facts } = deps
  const { chain } = facts
  const prepared = await prepare(deps, replay, approached)
  const opened = typeof prepared === 'string' ? undefined : prepared
  let isReady = true
  let switched: Switched | undefined
  try {
    await parts.replays.load()
    isReady = parts.replays.of(chain)?.phase === 'ready'
    if (isReady && typeof prepared === 'string') await refuse(deps, replay, prepared)
    else if (isReady && opened !== undefined) switched = await takeOver(deps, replay, opened)
  } finally {
    if (switched === undefined) await opened?.close()
  }
  // A process that had the chain before, or has it now, is further.
  return isReady ? switched : switchToReplay(deps, chain)
}

/** Undefined: another process has the chain now, and finished the switch. */
async function takeOver(deps: SwitchDeps, replay: Replay, opened: OpenReplay): Promise<Switched | undefined> {
  const { parts, facts } = deps
  const money = moneyAfter(facts, parts.replays, replay)
  await parts.replays.putWithMoney(facts.chain, { ...replay, phase: 'switching' }, money)
  if (!(await finishSwitch(deps, replay, opened))) return undefined
  const fold = await opened.pipeline.handOver()
  await opened.closeRows()
  return { fold, state: opened.state }
}

async function refuse({ parts, logger, facts }: SwitchDeps, replay: Replay, reason: string): Promise<void> {
  const { chain } = facts
  logger.error('cannot switch to the replay of a chain', { chain, epoch: replay.epoch, reason })
  await parts.replays.put(chain, { ...replay, phase: 'refused', reason })
}

/** False: another process has the chain now and finished the switch. What comes later, such as another replay, is not touched. */
async function finishSwitch(deps: SwitchDeps, replay: Replay, opened?: OpenReplay): Promise<boolean> {
  const { parts, store, facts, logger } = deps
  const { chain } = facts
  const { epoch } = replay
  const isUnfinished = () => isIn(parts, chain, { phase: 'switching', epoch })
  try {
    if (await hasReplayedRows(store, chain)) await moveReplayedRows(store, chain, isUnfinished)
    if (await isUnfinished()) await parts.installState(chain, epoch, opened?.state)
  } catch (error) {
    // The other process has deleted the rows that were to be moved.
    if (await isUnfinished()) throw error
  }
  if (!(await isUnfinished())) return false
  await parts.replays.put(chain, { ...replay, phase: 'cleaning' })
  logger.info('switched to the replay of a chain', { chain, epoch })
  return true
}

/** The replay folded to where the live fold stopped, or why it cannot be switched to. What may work later is thrown. */
async function prepare(deps: SwitchDeps, replay: Replay, approached?: Approached): Promise<OpenReplay | string> {
  let opened = approached?.opened
  try {
    const live = approached === undefined ? await stoppedFold(deps) : liveFoldOf(approached.live)
    const found = opened ?? (await openReplay(deps, replay, live))
    if (typeof found === 'string') return found
    opened = found
    const problem = await foldToLive(deps, opened, live)
    if (problem === undefined) return opened
    await opened.close()
    return problem
  } catch (error) {
    await opened?.close()
    const isTakenOver = error instanceof DextapeError && error.code === 'fenced'
    if (isTakenOver || isRetryable(error)) throw error
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * Folds the replay up to the block that was published last, where its epoch continues: what was pushed is not pushed again. Both
 * folds apply the same records, so that the same seq is the same block. The checkpoint fails if another process has the chain.
 */
async function foldToLive(
  { log, codec, facts }: SwitchDeps,
  { replay, pipeline }: OpenReplay,
  live: LiveFold,
): Promise<string | undefined> {
  const published = await lastUpdate(log, codec, facts.chain)
  const until = {
    position: Math.max(live.position, replay.position ?? 0),
    seq: published?.epoch === live.epoch ? published.seq : 0,
  }
  await foldUntil(log, blocksTopic(facts.chain, replay.generation), pipeline, until)
  if (pipeline.stopped !== null) return pipeline.stopped.message
  await pipeline.checkpoint()
  return undefined
}

/** The live fold continues with the money of the replay, unless that changes what it has folded. */
async function continueWithMoney(deps: SwitchDeps, replay: Replay): Promise<void> {
  const { parts, facts } = deps
  const { chain } = facts
  const problem = await whyNotContinued(deps, replay)
  await parts.replays.load()
  if (parts.replays.of(chain)?.phase !== 'ready') await switchToReplay(deps, chain)
  else if (problem !== undefined) await refuse(deps, replay, problem)
  else await parts.replays.putWithMoney(chain, { ...replay, phase: 'live' }, moneyAfter(facts, parts.replays, replay))
}

function whyNotContinued(deps: SwitchDeps, { money, fingerprint }: Replay): Promise<string | undefined> {
  const { settings, generation, facts, openState } = deps
  const wanted = { facts: withMoney(facts, money), maxTimeBackS: settings.maxTimeBackS, generation }
  return withState(openState(facts.chain), async (state) => {
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

/** On a cluster this claims the chain: its earlier owner can no longer checkpoint. */
function stoppedFold({ openState, facts }: SwitchDeps): Promise<LiveFold> {
  return withState(openState(facts.chain), async (state) => readMeta(state) ?? { epoch: 0, position: 0 })
}

async function withState<T>(opening: Promise<StateStore>, use: (state: StateStore) => Promise<T>): Promise<T> {
  const state = await opening
  try {
    return await use(state)
  } finally {
    await state.close()
  }
}
