/** The aggregate service: read blocks → fold → publish updates, store rows → checkpoint, each chain independently. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LiveGenerations } from '../core/coordination/generations.js'
import type { ChainFacts } from '../core/domain/chains.js'
import { DextapeError } from '../core/domain/errors.js'
import type { Codec } from '../core/log/codec.js'
import { blocksTopic, type EventLog } from '../core/log/port.js'
import { abortOf, sleep } from '../core/runtime/backoff.js'
import type { Logger } from '../core/runtime/logger.js'
import type { StageLatency } from '../core/runtime/stage-latency.js'
import type { Tracer } from '../core/runtime/tracing.js'
import { pacedStore } from '../core/store/paced-store.js'
import type { Store } from '../core/store/port.js'
import { type ChainPipeline, openChainPipeline, type PipelineDeps } from './chain-pipeline.js'
import { type ChainTurns, createChainTurns, FOLD_BATCH, type TurnSettings } from './chain-turns.js'
import type { StateStore } from './checkpoint/state-store.js'
import type { FoldMeters } from './fold-meters.js'
import { type AggregateChainStatus, pipelineStatus } from './pipeline-status.js'
import { APPROACHED, type Approached, approachWhenReady } from './replay/approach-replay.js'
import type { ReplayParts, SwitchDeps } from './replay/replay-parts.js'
import { factsWithReplay } from './replay/replayed-money.js'
import { cleanAfterSwitch, type Switched, switchToReplay } from './replay/switch-replay.js'
import type { SinkSettings } from './sink/sink.js'
import type { FoldSettings } from './state/fold-state.js'
import type { TopicSettings } from './trades-topic.js'

export type AggregateSettings = FoldSettings & SinkSettings & TurnSettings & TopicSettings

export type AggregateDeps = {
  log: EventLog
  codec: Codec
  store: Store
  openState(chain: string): Promise<StateStore>
  /** Which generation of a chain's history is folded; the first by default. */
  generations?: LiveGenerations
  /** Folds of a chain's log beside the live one; none by default. */
  replay?: ReplayParts
  factsOf(chain: string): ChainFacts
  settings: AggregateSettings
  logger: Logger
  nowMs(): number
  latency?: StageLatency
  meters?: FoldMeters
  tracer?: Tracer | undefined
} & Pick<PipelineDeps, 'ownsStore' | 'beforeCheckpoint' | 'onLoss'>

export type Aggregate = {
  /** Folds one chain until the signal aborts. A chain that cannot continue waits, stopped, with its reason in the status. */
  runChain(chain: string, signal: AbortSignal): Promise<void>
  /** Stores the rows of a chain folded here that wait for their batch. */
  flush(chain: string): Promise<void>
  /**
   * Folds every chain again from its first block, in a new epoch: the store has lost rows. `between`: runs when all chains have
   * stopped and their checkpoints are deleted. Resolves before they are folded.
   */
  refold(between: () => Promise<void>): Promise<void>
  /** Deletes what is older than its retention now: the disk is nearly full. */
  retain(): Promise<void>
  /** The same for one chain: its checkpoint is damaged. */
  refoldChain(chain: string): Promise<void>
  status(): AggregateChainStatus[]
}

const SHORTEST_TICK_MS = 100
const LONGEST_TICK_MS = 1000
const TICKS_PER_INTERVAL = 10
/** Serve loads the chain after its switch, and pushes wait for that: deletions would take the engine from it. */
const CLEAN_AFTER_MS = 3000
const CLEAN_AGAIN_MS = 1000

/** Usable unless chains were to be folded again meanwhile. */
type RunnableFold = Switched & { refoldsBefore: number }

export function createAggregate(deps: AggregateDeps): Aggregate {
  const { log, logger } = deps
  const pipelines = new Map<string, ChainPipeline>()
  const running = new Map<string, ChainTurns>()
  /** Of chains that run here. */
  const refolds = new Map<string, { stop: AbortController; cleared: Promise<void> }>()
  /** Of chains that were switched to a replay: deletes of what they replaced. */
  const cleanings = new Map<string, Promise<void>>()
  /** Until when chains are run here. */
  const runs = new Map<string, AbortSignal>()
  /** Chains wait for it before they are opened. */
  let gate: Promise<void> = Promise.resolve()
  let refoldsBegun = 0
  const { flushEveryMs, checkpointEveryMs } = deps.settings
  const tickMs = Math.min(
    LONGEST_TICK_MS,
    Math.max(SHORTEST_TICK_MS, Math.min(flushEveryMs, checkpointEveryMs) / TICKS_PER_INTERVAL),
  )

  /** When another generation becomes live, this one is shut down cleanly and the new one is folded from its first block. */
  async function runChain(chain: string, signal: AbortSignal): Promise<void> {
    await deps.generations?.load()
    await deps.replay?.replays.load()
    runs.set(chain, signal)
    let approached: Approached | undefined
    while (!signal.aborted) {
      const generation = deps.generations?.liveOf(chain) ?? 1
      const whileLive = deps.generations?.whileLive(chain, generation)
      const switched = await switchIfReady(chain, generation, signal, approached)
      approached = undefined
      const { replay: parts } = deps
      const replay = parts && approachWhenReady(() => switchDeps(parts, chain, generation), pipelines, signal)
      const ends = [signal, whileLive, replay?.near].filter((one) => one !== undefined)
      const outcome = await runGeneration(chain, generation, AbortSignal.any(ends), switched).catch(async (error) => {
        await replay?.abandon()
        throw error
      })
      const isNear = replay?.near.aborted === true
      if (outcome === 'refold' || whileLive?.aborted === true) await replay?.abandon()
      else approached = await replay?.end()
      if (outcome === 'refold' || isNear) continue
      if (whileLive?.aborted !== true) break
      if (!signal.aborted) logger.info('another generation of the chain is live', { chain, was: generation })
    }
    await approached?.opened.close()
  }

  function switchDeps(parts: ReplayParts, chain: string, generation: number): SwitchDeps {
    const { log, codec, store, settings, openState } = deps
    return { parts, facts: deps.factsOf(chain), generation, log, codec, store, settings, openState, logger }
  }

  /** A replay of the chain that is ready becomes the live fold. */
  async function switchIfReady(
    chain: string,
    generation: number,
    signal: AbortSignal,
    approached: Approached | undefined,
  ): Promise<RunnableFold | undefined> {
    const { replay: parts } = deps
    if (parts === undefined) return undefined
    await gate
    if (signal.aborted) return approached?.opened.close().then(() => undefined)
    const refoldsBefore = refoldsBegun
    const switched = await switchToReplay(switchDeps(parts, chain, generation), chain, approached)
    cleanIfDue(parts, chain)
    return switched && { ...switched, refoldsBefore }
  }

  function cleanIfDue(parts: ReplayParts, chain: string): void {
    const signal = runs.get(chain)
    if (signal === undefined || signal.aborted || cleanings.has(chain)) return
    if (parts.replays.of(chain)?.phase !== 'cleaning') return
    const cleaning = cleanUntilDone(parts, chain, signal).finally(() => cleanings.delete(chain))
    cleanings.set(chain, cleaning)
  }

  /** The chain is folded meanwhile. What is not deleted when the process ends, the next one deletes. */
  async function cleanUntilDone(parts: ReplayParts, chain: string, signal: AbortSignal): Promise<void> {
    await sleep(CLEAN_AFTER_MS, signal)
    const store = pacedStore(deps.store, signal)
    while (!signal.aborted) {
      try {
        return await cleanAfterSwitch({ parts, store }, chain)
      } catch (error) {
        if (!signal.aborted) logger.warn('rows of older epochs are not deleted yet, trying again', { chain, error })
        await sleep(CLEAN_AGAIN_MS, signal)
      }
    }
  }

  /** `refold`: the checkpoint is deleted, and the chain is to be folded from its first block. */
  async function runGeneration(
    chain: string,
    generation: number,
    signal: AbortSignal,
    switched?: RunnableFold,
  ): Promise<'ended' | 'refold'> {
    await gate
    const isUsable = !signal.aborted && switched?.refoldsBefore === refoldsBegun
    if (!isUsable) await switched?.state.close()
    if (signal.aborted) return 'ended'
    const stateStore = isUsable ? switched.state : await deps.openState(chain)
    const refold = new AbortController()
    let cleared = () => {}
    refolds.set(chain, { stop: refold, cleared: new Promise((resolve) => (cleared = resolve)) })
    try {
      const configured = deps.factsOf(chain)
      const facts = deps.replay === undefined ? configured : factsWithReplay(configured, deps.replay.replays)
      if (facts !== configured)
        logger.warn('the configuration has the money tokens from before a replay; using those of the replay', { chain })
      const continues = isUsable ? switched.fold : undefined
      const pipeline = await openChainPipeline({ ...deps, facts, generation, stateStore, continues })
      pipelines.set(chain, pipeline)
      const { epoch, seq } = pipeline.state
      logger.info('chain opened', { chain, generation, epoch, seq, offset: pipeline.position })
      await followBlocks(chain, generation, pipeline, AbortSignal.any([signal, refold.signal]))
    } catch (error) {
      if (!(error instanceof DextapeError && error.code === 'state_damaged')) throw error
      logger.error('the checkpoint of a chain is damaged, folding it again from its first block', { chain, error })
      refold.abort()
    } finally {
      refolds.delete(chain)
      await pipelines.get(chain)?.close()
      pipelines.delete(chain)
      if (refold.signal.aborted) await stateStore.clear()
      await stateStore.close()
      cleared()
    }
    return refold.signal.aborted ? 'refold' : 'ended'
  }

  async function followBlocks(chain: string, generation: number, pipeline: ChainPipeline, signal: AbortSignal) {
    const failed = new AbortController()
    const until = AbortSignal.any([signal, failed.signal])
    const turns = createChainTurns(deps, chain, pipeline)
    running.set(chain, turns)
    const timer = setInterval(() => void turns.tick().catch((error: unknown) => failed.abort(error)), tickMs)
    try {
      const from = pipeline.position
      for await (const records of log.follow(blocksTopic(chain, generation), { from, ...FOLD_BATCH }, until)) {
        await turns.process(records)
        if (pipeline.stopped !== null) break
        await nextTurn()
      }
      if (pipeline.stopped !== null && !until.aborted) {
        logger.error('chain stopped', { chain, offset: pipeline.position, error: pipeline.stopped })
        await turns.finish()
        await abortOf(until)
      }
      if (failed.signal.aborted) throw failed.signal.reason
      // The replay has all of it: the live checkpoint is no longer needed.
      if (until.reason !== APPROACHED) await finishOrWarn(turns, chain)
    } finally {
      clearInterval(timer)
      running.delete(chain)
    }
  }

  /** With an unreachable store, or a chain that another process took over, nothing is lost: the rest is folded again. */
  async function finishOrWarn(turns: ChainTurns, chain: string): Promise<void> {
    try {
      await turns.finish()
    } catch (error) {
      if (!(error instanceof DextapeError && (error.retry || error.code === 'fenced'))) throw error
      logger.warn('stopped before everything was stored; the next start resumes from the last checkpoint', {
        chain,
        error,
      })
    }
  }

  // A process that had the chain before may finish a switch, and then leave what is to be cleaned to this one.
  const { replay: watched } = deps
  watched?.replays.onChange((chain) => cleanIfDue(watched, chain))

  return {
    runChain,
    flush: async (chain) => running.get(chain)?.flush(),
    async retain() {
      for (const turns of running.values()) await turns.retain()
    },
    async refoldChain(chain) {
      const { stop, cleared } = refolds.get(chain) ?? {}
      stop?.abort()
      await cleared
    },
    async refold(between) {
      refoldsBegun += 1
      const chains = [...refolds.values()]
      const work = Promise.all(chains.map(({ cleared }) => cleared)).then(between)
      gate = work.catch(() => {})
      for (const { stop } of chains) stop.abort()
      await work
    },
    status: () => [...pipelines].map(([chain, pipeline]) => pipelineStatus(chain, pipeline)),
  }
}
