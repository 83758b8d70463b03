/** Runs a replay from its plan to the switch. A stopped one stays unfinished and resumes at the next run. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type Loss, storedProgress } from '../../aggregate/chain-fold.js'
import type { ChainPipeline } from '../../aggregate/chain-pipeline.js'
import { CHECKPOINT_PAIRS } from '../../aggregate/chain-turns.js'
import { foldFingerprint, lastUpdate } from '../../aggregate/epoch.js'
import { openReplayPipeline } from '../../aggregate/replay/open-replay.js'
import { limitedStore } from '../../aggregate/replay/replayed-rows.js'
import { cleanAfterSwitch, switchToReplay } from '../../aggregate/replay/switch-replay.js'
import { deleteSecondCandles } from '../../aggregate/retention.js'
import type { Config } from '../../core/config/index.js'
import type { Replay, ReplayLimits, Replays } from '../../core/coordination/replays.js'
import type { ChainFacts } from '../../core/domain/chains.js'
import { ConfigError, DextapeError } from '../../core/domain/errors.js'
import { moneyOf } from '../../core/domain/money.js'
import { blocksTopic } from '../../core/log/port.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Output } from '../../core/runtime/output.js'
import type { Progress } from '../../core/runtime/progress.js'
import { EXIT } from '../../core/runtime/run-main.js'
import { pacedStore } from '../../core/store/paced-store.js'
import type { Store } from '../../core/store/port.js'
import { rowVersion } from '../../core/store/tables.js'
import { foldSettings } from '../../processes/fold-chains.js'
import type { Platform } from '../../processes/platform/platform.js'
import { verifyRows } from '../verify/compare.js'
import { refold } from '../verify/refold.js'
import { compareReplayed } from './compare-replayed.js'
import type { ReplayReporter } from './replay-report.js'
import type { ReplayStores } from './replay-stores.js'

export type ReplayPlatform = Pick<Platform, 'log' | 'codec' | 'generations' | 'openState' | 'replay' | 'updatesHeldMs'>

export type ReplayParts = {
  platform: ReplayPlatform
  stores: ReplayStores
  config: Config
  facts: ChainFacts
  /** A running `up` or `aggregate` has the chain: it switches. */
  isServed: boolean
  logger: Logger
  out: Output
  nowMs: () => number
}

export type RunReplayDeps = ReplayParts & {
  progress: (unit: 'records' | 'updates') => Progress
  reporter: ReplayReporter
}

export type ReplayRequest = {
  limits: ReplayLimits | undefined
  isVerified: boolean
  /** Continues the live fold with new money instead of folding the history again. */
  fromCheckpoint?: boolean
}

type Deps = RunReplayDeps & { replays: Replays; chain: string }

const BATCH = { maxRecords: 256, maxBytes: 1024 * 1024 }
const CHECKPOINT_EVERY_MS = 10_000
/** A fifth of a live batch: what the engine is busy with at once. */
const SERVED_FLUSH_ROWS = 10_000
/** Asking a broker for the end of a topic takes several requests. */
const SHOW_EVERY_MS = 500
const LOOK_EVERY_MS = 100
const LOOK_AT_STORE_EVERY_MS = 500
const LOOKS_BETWEEN_LINES = 120

export async function runReplay(given: RunReplayDeps, request: ReplayRequest, signal: AbortSignal): Promise<number> {
  const { chain } = given.facts
  const deps = { ...given, replays: await replaysOf(given.platform), chain }
  const pending = deps.replays.of(chain)
  if (pending?.phase === 'ready' || pending?.phase === 'switching' || pending?.phase === 'cleaning')
    return switchOver(deps, pending, signal)
  if (request.fromCheckpoint === true) return continueWithMoney(deps, signal)
  const replay = await planReplay(deps, request.limits)
  const opened = await deps.stores.openBeside()
  const beside = deps.isServed ? pacedStore(opened) : opened
  try {
    await beside.migrate()
    const folded = await foldToEnd(deps, replay, beside, request, signal)
    if (folded === undefined) return unfinished(deps)
    if (replay.limits !== undefined) return await compare(deps, replay, folded.seq)
    if (folded.seq < 2) throw tooShort(chain)
    if (!(await untilLiveHas(deps, folded.seq, signal))) return unfinished(deps)
    const ready: Replay = { ...replay, phase: 'ready', position: folded.position }
    await deps.replays.put(chain, ready)
    return await switchOver(deps, ready, signal)
  } finally {
    await opened.close()
  }
}

async function unfinished({ out, chain }: Deps): Promise<number> {
  await out.line(`The replay of ${chain} is unfinished: run the same command to resume it, or --abandon to delete it.`)
  return EXIT.failed
}

async function replaysOf(platform: ReplayPlatform): Promise<Replays> {
  await platform.generations.load()
  await platform.replay.replays.load()
  return platform.replay.replays
}

/** The process that has the chain decides whether its checkpoint is also that of a fold with the new money. */
async function continueWithMoney(deps: Deps, signal: AbortSignal): Promise<number> {
  const { platform, config, facts, replays, chain, nowMs } = deps
  if (replays.of(chain)?.phase === 'folding') throw otherUnfinished(chain)
  const live = await liveEpoch(deps)
  if (live === 0) throw noBlocks(chain)
  const generation = platform.generations.liveOf(chain)
  const ready: Replay = {
    ...{ phase: 'ready', fromCheckpoint: true, epoch: live, generation, began: nowMs() },
    fingerprint: foldFingerprint(facts, config.fold.maxTimeBackS, generation),
    money: moneyOf(facts),
  }
  await replays.put(chain, ready)
  return switchOver(deps, ready, signal)
}

/** 0: nothing was folded yet. */
async function liveEpoch({ platform: { log, codec }, stores, chain }: Deps): Promise<number> {
  const stored = await storedProgress(stores.live, chain)
  const published = await lastUpdate(log, codec, chain)
  return Math.max(stored?.epoch ?? 0, published?.epoch ?? 0)
}

/** Resumes the unfinished replay, else begins a new one. */
async function planReplay(deps: Deps, limits: ReplayLimits | undefined): Promise<Replay> {
  const { platform, stores, config, facts, replays, chain, nowMs, logger } = deps
  const { log, generations } = platform
  const generation = generations.liveOf(chain)
  const fingerprint = foldFingerprint(facts, config.fold.maxTimeBackS, generation)
  const known = replays.of(chain)
  if (known?.phase === 'folding') {
    const isSame = known.fingerprint === fingerprint && JSON.stringify(known.limits) === JSON.stringify(limits)
    if (!isSame) throw otherUnfinished(chain)
    logger.info('replay resumed', { chain, epoch: known.epoch })
    return known
  }
  const { end } = await log.info(blocksTopic(chain, generation))
  if (end === 0) throw noBlocks(chain)
  const replay: Replay = {
    ...{ phase: 'folding', generation, fingerprint, began: nowMs() },
    epoch: Math.max(await liveEpoch(deps), known?.epoch ?? 0) + 1,
    money: moneyOf(facts),
    ...(limits === undefined ? {} : { limits }),
  }
  await stores.drop()
  for (const epoch of [known?.epoch, replay.epoch])
    if (epoch !== undefined) await platform.replay.dropState(chain, epoch)
  await replays.put(chain, replay)
  logger.info('replay started', { chain, epoch: replay.epoch, generation })
  return replay
}

type Folded = { seq: number; position: number }

/** Folds up to the end of the log, with everything stored; undefined: it was stopped on the way. */
async function foldToEnd(
  deps: Deps,
  replay: Replay,
  beside: Store,
  { isVerified }: ReplayRequest,
  signal: AbortSignal,
): Promise<Folded | undefined> {
  const { platform, config, facts, chain, logger } = deps
  const store = replay.limits === undefined ? beside : limitedStore(beside, replay.limits)
  const stateStore = await platform.replay.openState(chain, replay.epoch)
  try {
    const all = foldSettings(config, platform)
    const settings = deps.isServed ? { ...all, flushRows: SERVED_FLUSH_ROWS } : all
    const onLoss = ({ part, what }: Loss) => {
      if (part === 'store')
        logger.warn('rows of the replay are lost, folding it again from its first block', { chain, what })
    }
    const pipeline = await openReplayPipeline({ ...platform, store, settings, stateStore, facts, onLoss }, replay)
    if (!(await foldAvailable(deps, replay, pipeline, signal))) return undefined
    if (replay.limits === undefined) {
      if (isVerified) await verifyReplayed(deps, replay, beside, pipeline.state.seq)
      await deleteSecondCandles(beside, chain, pipeline.state.nowS - settings.secondCandlesKeptS)
      // What was appended meanwhile.
      if (!(await foldAvailable(deps, replay, pipeline, signal))) return undefined
    }
    return { seq: pipeline.state.seq, position: pipeline.position }
  } finally {
    await stateStore.close()
  }
}

/** Folds what the log has, and checkpoints; false: stopped before its end. */
async function foldAvailable(
  { platform, progress, reporter, nowMs, chain }: Deps,
  { generation, epoch }: Replay,
  pipeline: ChainPipeline,
  signal: AbortSignal,
): Promise<boolean> {
  const topic = blocksTopic(chain, generation)
  const shown = reporter.stage('folding', epoch, progress('records'))
  let from = pipeline.position
  let checkpointedMs = nowMs()
  let shownMs = Number.NEGATIVE_INFINITY
  let isAtEnd = false
  try {
    while (!signal.aborted && !isAtEnd) {
      const records = await platform.log.read(topic, { from, ...BATCH })
      await pipeline.process(records)
      if (pipeline.stopped !== null) throw stopped(chain, pipeline.stopped)
      from = (records.at(-1)?.offset ?? from - 1) + 1
      isAtEnd = records.length === 0
      await pipeline.sink.flushWhenDue(nowMs())
      if (nowMs() - checkpointedMs >= CHECKPOINT_EVERY_MS || pipeline.state.changedPairs.size >= CHECKPOINT_PAIRS) {
        await pipeline.checkpoint()
        checkpointedMs = nowMs()
      }
      if (isAtEnd || nowMs() - shownMs >= SHOW_EVERY_MS) {
        shown.report(from, (await platform.log.info(topic)).end)
        shownMs = nowMs()
      }
      await nextTurn()
    }
    await pipeline.checkpoint()
    return isAtEnd
  } finally {
    shown.end()
  }
}

/** Folds a second time, in memory, and compares every stored row. */
async function verifyReplayed(deps: Deps, { epoch }: Replay, beside: Store, seq: number): Promise<void> {
  const { platform, config, facts, chain, logger, progress, reporter } = deps
  logger.info('checking the replayed rows', { chain, seq })
  const shown = reporter.stage('verifying', epoch, progress('updates'))
  const onSeq = (done: number) => shown.report(done, seq)
  const expected = await refold(platform, facts, config.fold, { epoch, seq }, onSeq).finally(shown.end)
  // What differs is replayed once more.
  const findings = await verifyRows(beside, expected, String(rowVersion(epoch, seq)), () => {}).finally(shown.end)
  const wrong = findings.flatMap(({ what, wrong: lines }) => lines.map((line) => `${what} ${line}`))
  if (wrong.length === 0) return
  for (const difference of wrong.slice(0, 5)) logger.error('a replayed row is wrong', { difference })
  throw new DextapeError({
    code: 'replay_differs',
    what: `The replay of ${chain} was not switched to: ${wrong.length} of its rows are wrong`,
    fix: 'Delete it with --abandon, check the disk with `dextape repair`, and replay again.',
  })
}

/** Waits until the live fold has stored what the replay has: clients are at that block then. */
async function untilLiveHas(deps: Deps, seq: number, signal: AbortSignal): Promise<boolean> {
  const { stores, isServed, chain, logger } = deps
  if (isServed) await stores.flushLive()
  for (let looks = 1; isServed && !signal.aborted; looks += 1) {
    const stored = await storedProgress(stores.live, chain)
    if (stored !== undefined && stored.seq >= seq) break
    if (looks % LOOKS_BETWEEN_LINES === 0)
      logger.warn('the live chain has not stored yet what is replayed; is it folded?', {
        chain,
        seq,
        stored_seq: stored?.seq,
      })
    await sleep(LOOK_AT_STORE_EVERY_MS)
  }
  return !signal.aborted
}

async function switchOver(deps: Deps, { epoch, fromCheckpoint }: Replay, signal: AbortSignal): Promise<number> {
  const { isServed, replays, chain, out, reporter } = deps
  reporter.stage('switching', epoch)
  if (!isServed) await switchHere(deps)
  for (;;) {
    const now = replays.of(chain)
    if (now?.phase === 'live') {
      const how = fromCheckpoint === true ? 'with the new money tokens; its history is the same' : 'as replayed'
      await out.line(`${chain} continues in epoch ${epoch}, ${how}.`)
      return EXIT.ok
    }
    if (now?.phase === 'refused') throw refused(chain, now)
    if (signal.aborted) {
      await out.line(`The replay of ${chain} is complete; the process that folds the chain switches to it.`)
      return EXIT.failed
    }
    await sleep(LOOK_EVERY_MS)
  }
}

/** No process has the chain: this one switches, and the next `up` continues there. */
async function switchHere({ platform, stores, config, facts, chain, logger }: Deps): Promise<void> {
  const parts = { ...platform.replay, openStore: () => stores.openBeside() }
  const settings = foldSettings(config, platform)
  const generation = platform.generations.liveOf(chain)
  const { log, codec, openState: openLive } = platform
  const all = { parts, facts, generation, log, codec, store: stores.live, settings, openState: openLive, logger }
  const switched = await switchToReplay(all, chain)
  await switched?.state.close()
  await cleanAfterSwitch(all, chain)
}

/** What a replay with limits is for: it is never switched to. */
async function compare(deps: Deps, replay: Replay, seq: number): Promise<number> {
  const { stores, chain, out } = deps
  const rows = await compareReplayed(stores.live, chain, replay, seq)
  await out.table(
    ['table', 'compared', 'different', 'only live', 'only replayed'],
    rows.map(({ table, compared, different, onlyLive, onlyReplayed }) => [
      table,
      compared,
      different,
      onlyLive,
      onlyReplayed,
    ]),
  )
  await discard(deps, replay)
  return EXIT.ok
}

async function discard(deps: Omit<Deps, 'progress'>, replay: Replay): Promise<void> {
  const { platform, stores, replays, chain, reporter } = deps
  await replays.put(chain, { ...replay, phase: 'abandoned' })
  await stores.drop()
  await platform.replay.dropState(chain, replay.epoch)
  // Takes the place of what a killed one reported last.
  reporter.stage('switching', replay.epoch)
}

export async function abandonReplay(given: Omit<RunReplayDeps, 'progress'>): Promise<number> {
  const { chain } = given.facts
  const deps = { ...given, replays: await replaysOf(given.platform), chain }
  const replay = deps.replays.of(chain)
  const isUnfinished = replay?.phase === 'folding' || replay?.phase === 'refused'
  const isWaiting = replay?.phase === 'ready' && !given.isServed
  if (replay === undefined || !(isUnfinished || isWaiting)) {
    const got = replay === undefined ? {} : { got: `the last one is ${replay.phase}` }
    throw new DextapeError({ code: 'nothing_unfinished', what: `No unfinished replay of ${chain}`, ...got })
  }
  await discard(deps, replay)
  await given.out.line(`Deleted the unfinished replay of ${chain}; the live tables were not touched.`)
  return EXIT.ok
}

function otherUnfinished(chain: string): ConfigError {
  return new ConfigError({
    code: 'replay_unfinished',
    what: `An unfinished replay of ${chain} has other rules, money tokens, generation or limits`,
    fix: 'Resume it with the same configuration and options, or delete it with --abandon.',
  })
}

function noBlocks(chain: string): DextapeError {
  return new DextapeError({
    code: 'nothing_to_replay',
    what: `Cannot replay ${chain}: the log has no blocks of it`,
    fix: 'List topics with `dextape topics ls`.',
  })
}

function tooShort(chain: string): DextapeError {
  return new DextapeError({
    code: 'nothing_to_replay',
    what: `Cannot replay ${chain}: the log has only one block of it`,
  })
}

function stopped(chain: string, cause: DextapeError): DextapeError {
  return new DextapeError({
    code: 'replay_stopped',
    what: `The replay of ${chain} cannot continue: ${cause.message}`,
    fix: 'The live chain stops at the same record. Read its history again with `dextape backfill`, then replay.',
    cause,
  })
}

function refused(chain: string, { reason, fromCheckpoint }: Replay): DextapeError {
  if (fromCheckpoint === true)
    return new DextapeError({
      code: 'replay_needs_history',
      what: `${chain} cannot continue from its checkpoint: ${reason ?? 'unknown'}`,
      fix: 'Replay the whole history: run the command without --from-checkpoint.',
    })
  return new DextapeError({
    code: 'replay_refused',
    what: `The chain ${chain} was not switched to its replay: ${reason ?? 'unknown'}`,
    fix: 'Run the same command again: it begins a new replay. The live tables were not touched.',
  })
}
