import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { DextapeError } from '../../core/domain/errors.js'
import type { BlockUpdate } from '../../core/domain/records.js'
import { updatesTopic } from '../../core/log/port.js'
import type { Logger } from '../../core/runtime/logger.js'
import { type AppliedUpdate, applyUpdate } from './apply-update.js'
import { isAtOrBefore } from './candle-overlay.js'
import { loadChain } from './load-chain.js'
import { loadOpenCandles } from './load-recent.js'
import type { PreparedEpochs } from './prepare-epochs.js'
import { BATCH_RECORDS, createUpdateAssembler, decodeUpdates, findOffset, readUpdates } from './read-updates.js'
import { type ReplayDeps, replayRecent } from './replay-recent.js'
import { NOTHING_APPLIED, type ServedChain } from './served-chain.js'

export type FollowDeps = ReplayDeps & {
  /** Commits how far it has read as this group. */
  group: string
  logger: Logger
  nowMs: () => number
  onApplied: (applied: AppliedUpdate) => void
  onGap: (state: ServedChain, missing: number) => void
  /** The state is now that of another epoch, as the store has it. No update of it was applied. */
  onAdopted: (state: ServedChain) => void
  /** What is loaded of an epoch before it begins. */
  prepared?: Pick<PreparedEpochs, 'take'> | undefined
}

export type Follower = {
  /** Settles once the updates in the topic at startup are applied. */
  caughtUp: Promise<void>
  done: Promise<void>
}

type Times = Pick<AppliedUpdate, 'arrivedMs' | 'appendedMs'>

const RETRY_MS = 1000
const COMMIT_EVERY_MS = 5000

/** Follows a chain's updates, starting after the state loaded from the store. */
export function followChain(deps: FollowDeps, state: ServedChain, signal: AbortSignal): Follower {
  const topic = updatesTopic(state.chain)
  let committedMs = 0
  let isReplayed = state.seq === NOTHING_APPLIED || !state.keeps.pushes
  let isFailing = false
  let reached = () => {}
  let failed = (_cause: unknown) => {}
  const caughtUp = new Promise<void>((resolve, reject) => {
    reached = resolve
    failed = reject
  })
  caughtUp.catch(() => {})

  async function run(): Promise<void> {
    const assemble = createUpdateAssembler()
    const { end } = await deps.log.info(topic)
    const from = await findOffset(deps.log, topic, deps.codec, state)
    if (!isReplayed) {
      await applyLoaded(deps, state)
      if (!(await replayRecent(deps, state))) await loadOpen(deps, state)
    }
    isReplayed = true
    if (from >= end) reached()
    for await (const records of deps.log.follow(topic, { from, maxRecords: BATCH_RECORDS }, signal)) {
      isFailing = false
      const parts = await decodeUpdates(deps.codec, topic, records)
      for (const [index, { offset, arrivedMs, appendedMs }] of records.entries()) {
        const part = parts[index]
        const update = part === undefined ? undefined : assemble(part, offset)
        if (update !== undefined) await applyAndNotify(update, { arrivedMs, appendedMs })
        if (offset + 1 >= end) reached()
      }
      await commitPosition((records.at(-1)?.offset ?? -1) + 1)
      // Yield, so that catching up does not starve requests: an embedded log may never wait for I/O.
      await nextTurn()
    }
  }

  /** Commits the position so that retention keeps unread records. A lost commit only delays retention. */
  async function commitPosition(nextOffset: number): Promise<void> {
    if (nextOffset === 0 || deps.nowMs() - committedMs < COMMIT_EVERY_MS) return
    committedMs = deps.nowMs()
    await deps.log.commit(deps.group, topic, nextOffset)
  }

  async function applyAndNotify(update: BlockUpdate, times: Times): Promise<void> {
    if (update.epoch > state.epoch && update.seq > 1) {
      const isAdopted = await adoptEpoch(deps, state, update.epoch)
      // The store has this update: it only tells that the epoch has begun.
      if (isAdopted && update.seq <= state.seq) deps.onAdopted(state)
    }
    const outcome = applyUpdate(state, update, deps.nowMs())
    if (outcome.kind !== 'applied') return
    if (outcome.applied.missingUpdates > 0) deps.onGap(state, outcome.applied.missingUpdates)
    deps.onApplied({ ...outcome.applied, ...times })
  }

  async function runWithRetries(): Promise<void> {
    for (;;) {
      try {
        return await run()
      } catch (cause) {
        if (!(cause instanceof DextapeError && cause.retry) || signal.aborted) throw cause
        if (!isFailing) deps.logger.warn('cannot read updates, retrying', { chain: state.chain, error: cause })
        isFailing = true
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {})
      }
    }
  }

  const done = runWithRetries().catch((cause: unknown) => {
    if (signal.aborted) return
    state.stopped = cause instanceof Error ? cause.message : String(cause)
    deps.logger.error('chain stopped: its updates cannot be applied', { chain: state.chain, error: cause })
    failed(cause)
  })
  return { caughtUp, done }
}

/**
 * Applies the updates that are in a part of the loaded pairs and tokens already. Until then a push about a pair that an
 * update does not have would tell its future. Nobody is notified: these updates are replayed as the ones before.
 */
async function applyLoaded(deps: FollowDeps, state: ServedChain): Promise<void> {
  if (state.loadedThrough <= state.seq) return
  await loadOpen(deps, state)
  const topic = updatesTopic(state.chain)
  const from = await findOffset(deps.log, topic, deps.codec, state)
  for await (const update of readUpdates(deps, topic, from)) {
    if (update.epoch > state.epoch || state.seq >= state.loadedThrough) break
    const outcome = applyUpdate(state, update, deps.nowMs())
    if (outcome.kind === 'applied' && outcome.applied.missingUpdates > 0)
      deps.onGap(state, outcome.applied.missingUpdates)
  }
}

/** Loads the open candles, unless updates that are not stored yet have been applied to them. */
async function loadOpen({ store }: FollowDeps, state: ServedChain): Promise<void> {
  if (!isAtOrBefore(state, state.flushed)) return
  await loadOpenCandles(store, state.chain, state.open, { ...state, now: state.nowS })
}

/** An epoch that was replayed starts in the middle of the topic: its earlier state is in the store. */
async function adoptEpoch(deps: FollowDeps, state: ServedChain, epoch: number): Promise<boolean> {
  const prepared = await deps.prepared?.take(state.chain, epoch)
  const stored = prepared ?? (await loadChain(deps.store, state.chain, state.keeps))
  if (stored === undefined || stored.epoch !== epoch) return false
  const { gaps, lastGap, lastReorg, appliedAtMs } = state
  Object.assign(state, stored, { gaps, lastGap, lastReorg, appliedAtMs })
  if (!state.keeps.pushes) return true
  await applyLoaded(deps, state)
  if (prepared === undefined) await loadOpen(deps, state)
  return true
}
