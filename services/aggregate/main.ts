/** The aggregate service: every chain of the log through its pipeline, read → price → fold → emit → sink → checkpoint. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LiveGenerations } from '../core/coordination/generations.js'
import type { ChainFacts } from '../core/domain/chains.js'
import { DextapeError } from '../core/domain/errors.js'
import type { Codec } from '../core/log/codec.js'
import { blocksTopic, deadTopic, type EventLog, SERVE_GROUP, tradesTopic, updatesTopic } from '../core/log/port.js'
import { abortOf } from '../core/runtime/backoff.js'
import type { Logger } from '../core/runtime/logger.js'
import type { Store } from '../core/store/port.js'
import { type ChainPipeline, openChainPipeline, type TopicSettings } from './chain-pipeline.js'
import type { StateStore } from './checkpoint/state-store.js'
import { forgetSecondCandles } from './sink/maintenance.js'
import type { SinkSettings } from './sink/sink.js'
import type { FoldSettings } from './state/chain-state.js'

export type AggregateSettings = FoldSettings &
  SinkSettings &
  TopicSettings & {
    checkpointEveryMs: number
    updatesKeptMs: number
    /** And this long by the clock. */
    updatesHeldMs: number
    deadKeptMs: number
    secondCandlesKeptS: number
  }

export type AggregateDeps = {
  log: EventLog
  codec: Codec
  store: Store
  openState(chain: string): Promise<StateStore>
  /** Which generation of a chain's history is folded; the first where nobody is asked. */
  generations?: LiveGenerations
  factsOf(chain: string): ChainFacts
  settings: AggregateSettings
  logger: Logger
  nowMs(): number
}

export type AggregateChainStatus = {
  chain: string
  epoch: number
  seq: number
  head: ChainPipeline['state']['head']
  firstBlock: ChainPipeline['state']['head']
  nowS: number
  finalizedNumber: number
  position: number
  flushedSeq: number
  stopped: string | null
  deadByReason: ReadonlyMap<string, number>
} & ChainPipeline['counts']

export type Aggregate = {
  /** Folds one chain until the signal aborts; a chain that cannot go on stays, stopped, with its reason in the status. */
  runChain(chain: string, signal: AbortSignal): Promise<void>
  status(): AggregateChainStatus[]
}

/** Small enough that a stop, a checkpoint or a request never waits long for a batch to be folded. */
const BATCH = { maxRecords: 128, maxBytes: 256 * 1024 }
const TICK_MS = 100
const DAY_S = 86_400

export function createAggregate(deps: AggregateDeps): Aggregate {
  const { log, logger } = deps
  const pipelines = new Map<string, ChainPipeline>()

  /** A generation ends in order when another becomes the live one, which is then folded from its first block. */
  async function runChain(chain: string, signal: AbortSignal): Promise<void> {
    await deps.generations?.load()
    while (!signal.aborted) {
      const generation = deps.generations?.liveOf(chain) ?? 1
      const whileLive = deps.generations?.whileLive(chain, generation)
      await runGeneration(chain, generation, whileLive === undefined ? signal : AbortSignal.any([signal, whileLive]))
      if (whileLive?.aborted !== true) return
      if (!signal.aborted) logger.info('another generation of the chain is live', { chain, was: generation })
    }
  }

  async function runGeneration(chain: string, generation: number, signal: AbortSignal): Promise<void> {
    const facts = deps.factsOf(chain)
    const stateStore = await deps.openState(chain)
    const failed = new AbortController()
    const until = AbortSignal.any([signal, failed.signal])
    try {
      const pipeline = await openChainPipeline({ ...deps, facts, generation, stateStore })
      pipelines.set(chain, pipeline)
      const { epoch, seq } = pipeline.state
      logger.info('chain opened', { chain, generation, epoch, seq, offset: pipeline.position })
      const turns = createTurns(deps, chain, pipeline)
      const timer = setInterval(() => void turns.tick().catch((error: unknown) => failed.abort(error)), TICK_MS)
      try {
        for await (const records of log.follow(
          blocksTopic(chain, generation),
          { from: pipeline.position, ...BATCH },
          until,
        )) {
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
        await finishOrWarn(turns, chain)
      } finally {
        clearInterval(timer)
      }
    } finally {
      pipelines.delete(chain)
      await stateStore.close()
    }
  }

  /** A store that is away, or a chain that is another's by now, is no loss: the rest is folded again. */
  async function finishOrWarn(turns: Turns, chain: string): Promise<void> {
    try {
      await turns.finish()
    } catch (error) {
      if (!(error instanceof DextapeError && (error.retry || error.code === 'fenced'))) throw error
      logger.warn('stopped before everything was stored; who folds it next goes on from the last checkpoint', {
        chain,
        error,
      })
    }
  }

  return {
    runChain,
    status: () =>
      [...pipelines].map(([chain, { state, sink, counts, position, stopped, deadByReason }]) => ({
        chain,
        epoch: state.epoch,
        seq: state.seq,
        head: state.head,
        firstBlock: state.firstBlock,
        nowS: state.nowS,
        finalizedNumber: state.finalizedNumber,
        position,
        flushedSeq: sink.flushedSeq,
        stopped: stopped === null ? null : stopped.message,
        deadByReason,
        ...counts,
      })),
  }
}

/** Keeps what is younger, and what serve has not read yet: a day of chain time can pass in a second of catching up. */
async function forgetPublished(log: EventLog, topic: string, keptMs: number, written: WrittenMarks): Promise<void> {
  const { newestMs, end } = await log.info(topic)
  const old = await log.offsetAt(topic, newestMs - keptMs)
  const read = await log.committed(SERVE_GROUP, topic)
  await log.truncate(topic, Math.min(old, read ?? end, written.endHeld(end)))
}

type WrittenMarks = ReturnType<typeof createWrittenMarks>

/** Where a topic ended at moments of the clock: what was written since `heldMs` ago can be told from the rest. */
function createWrittenMarks(heldMs: number, nowMs: () => number) {
  let marks: { atMs: number; end: number }[] = []
  return {
    /** The topic's end as it was `heldMs` ago, as far as known. */
    endHeld(end: number): number {
      const now = nowMs()
      marks.push({ atMs: now, end })
      const old = marks.filter(({ atMs }) => now - atMs >= heldMs)
      marks = marks.slice(Math.max(0, old.length - 1))
      return old.at(-1)?.end ?? 0
    },
  }
}

async function forgetDeadLetters(log: EventLog, chain: string, keptMs: number): Promise<void> {
  const topic = deadTopic(chain)
  const { start } = await log.info(topic)
  const [oldest] = await log.read(topic, { from: start, maxRecords: 1 })
  // A letter from before any chain time was known has no age: nothing is cut behind it.
  if (oldest === undefined || oldest.timestampMs === 0) return
  await log.retain(topic, keptMs)
}

type Turns = ReturnType<typeof createTurns>

/** Records, flushes and checkpoints of one chain take turns: a checkpoint always stands between two blocks. */
function createTurns({ log, store, settings, nowMs }: AggregateDeps, chain: string, pipeline: ChainPipeline) {
  let last: Promise<unknown> = Promise.resolve()
  let checkpointedMs = nowMs()
  let checkpointedSeq = pipeline.state.seq
  let maintainedDay = 0
  const published = [updatesTopic(chain), ...(settings.publishTrades ? [tradesTopic(chain)] : [])].map((topic) => ({
    topic,
    written: createWrittenMarks(settings.updatesHeldMs, nowMs),
  }))

  function turn(work: () => Promise<void>): Promise<void> {
    const next = last.then(work)
    last = next.catch(() => {})
    return next
  }

  async function checkpoint(): Promise<void> {
    // A chain stopped by a block it could not publish keeps its last checkpoint: the next start folds that block again.
    if (pipeline.state.seq === checkpointedSeq || !pipeline.canCheckpoint) return
    checkpointedSeq = pipeline.state.seq
    await pipeline.checkpoint()
    checkpointedMs = nowMs()
    const day = Math.floor(pipeline.state.nowS / DAY_S)
    if (day === maintainedDay) return
    maintainedDay = day
    for (const { topic, written } of published) await forgetPublished(log, topic, settings.updatesKeptMs, written)
    await forgetDeadLetters(log, chain, settings.deadKeptMs)
    await forgetSecondCandles(store, chain, pipeline.state.nowS - settings.secondCandlesKeptS)
  }

  async function settle(): Promise<void> {
    await pipeline.sink.flushWhenDue(nowMs())
    if (nowMs() - checkpointedMs >= settings.checkpointEveryMs) await checkpoint()
  }

  let ticking = false
  return {
    process: (records: Parameters<ChainPipeline['process']>[0]) =>
      turn(async () => {
        await pipeline.process(records)
        await settle()
      }),
    /** Nothing new from the log: what waits is still written in time. */
    async tick() {
      // All that was folded is stored and checkpointed: an idle chain costs nothing.
      if (ticking || pipeline.state.seq === checkpointedSeq) return
      ticking = true
      await turn(settle).finally(() => {
        ticking = false
      })
    },
    finish: () => turn(checkpoint),
  }
}
