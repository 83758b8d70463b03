/**
 * Folds a replay up to the live fold while that goes on, so that a switch holds back only what the last blocks changed. It shares
 * the event loop with the live fold, and yields to it after a few blocks.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DextapeError } from '../../core/domain/errors.js'
import { blocksTopic } from '../../core/log/port.js'
import { abortOf, isRetryable, sleep } from '../../core/runtime/backoff.js'
import type { ChainPipeline } from '../chain-pipeline.js'
import { foldUntil } from './fold-until.js'
import { liveFoldOf, type OpenReplay, openReplay } from './open-replay.js'
import type { SwitchDeps } from './replay-parts.js'

/** A replay near its live fold. */
export type Approached = { opened: OpenReplay; live: ChainPipeline }

const BATCH = { maxRecords: 4, maxBytes: 64 * 1024 }
const NEAR_RECORDS = 4
/** A chain may be so busy that the replay never gets near. */
const MAX_ROUNDS = 10
const RETRY_MS = 2000

/** Why the live fold is to stop for a replay that is near it. */
export const APPROACHED = Symbol('approached')

export type Approach = {
  /** The live fold is to stop for the replay. */
  near: AbortSignal
  /** Stops it. Undefined: the switch has to do it all, or to say why it cannot. */
  end(): Promise<Approached | undefined>
  abandon(): Promise<void>
}

/** Begins once a replay of the chain is ready. */
export function approachWhenReady(
  depsNow: () => SwitchDeps,
  pipelines: ReadonlyMap<string, ChainPipeline>,
  signal: AbortSignal,
): Approach {
  const near = new AbortController()
  const stop = new AbortController()
  const until = AbortSignal.any([signal, stop.signal])

  async function approach(): Promise<Approached | undefined> {
    const { parts, facts } = depsNow()
    await abortOf(AbortSignal.any([until, parts.replays.untilReady(facts.chain)]))
    const live = pipelines.get(facts.chain)
    return live === undefined ? undefined : approachReplay(depsNow(), live, until)
  }

  const approached = approach()
  approached.then(
    (one) => near.abort(one === undefined ? undefined : APPROACHED),
    () => near.abort(),
  )

  function end(): Promise<Approached | undefined> {
    stop.abort()
    return approached
  }

  return {
    ...{ near: near.signal, end },
    async abandon() {
      await end().then(
        (one) => one?.opened.close(),
        () => {},
      )
    },
  }
}

async function approachReplay(
  deps: SwitchDeps,
  live: ChainPipeline,
  signal: AbortSignal,
): Promise<Approached | undefined> {
  const { chain } = deps.facts
  while (!signal.aborted) {
    try {
      return await tryOnce(deps, live, signal)
    } catch (error) {
      if (error instanceof DextapeError && error.code === 'fenced') throw error
      if (!isRetryable(error)) return undefined
      deps.logger.warn('the replay of a chain cannot be folded to its end yet, trying again', { chain, error })
      await sleep(RETRY_MS, signal)
    }
  }
  return undefined
}

async function tryOnce(deps: SwitchDeps, live: ChainPipeline, signal: AbortSignal): Promise<Approached | undefined> {
  const { parts, facts, log } = deps
  const replay = parts.replays.of(facts.chain)
  if (replay?.phase !== 'ready' || replay.fromCheckpoint === true) return undefined
  const opened = await openReplay(deps, replay, liveFoldOf(live))
  if (typeof opened === 'string') return undefined
  const { pipeline } = opened
  const topic = blocksTopic(facts.chain, replay.generation)
  const afterBatch = async () => {
    await nextTurn()
    signal.throwIfAborted()
  }
  try {
    for (let round = 0; round < MAX_ROUNDS && !signal.aborted && pipeline.stopped === null; round += 1) {
      const behind = live.position - pipeline.position
      await foldUntil(log, topic, pipeline, { position: live.position, seq: 0 }, { batch: BATCH, afterBatch })
      await pipeline.checkpoint()
      if (behind <= NEAR_RECORDS) return { opened, live }
    }
    if (!signal.aborted && pipeline.stopped === null) return { opened, live }
  } catch (error) {
    await opened.close()
    if (signal.aborted) return undefined
    throw error
  }
  await opened.close()
  return undefined
}
