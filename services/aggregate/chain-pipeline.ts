/** One chain from record to checkpoint: decode → fold → publish updates, queue rows → checkpoint. */
import { DextapeError } from '../core/domain/errors.js'
import type { Codec, DecodedRecord } from '../core/log/codec.js'
import { createAssembler, splitUpdate } from '../core/log/parts.js'
import {
  AGGREGATE_GROUP,
  blocksTopic,
  deadTopic,
  type EventLog,
  type LogEntry,
  type LogRecord,
  updatesTopic,
} from '../core/log/port.js'
import { inTurns } from '../core/runtime/in-turns.js'
import { type StageLatency, wallMs } from '../core/runtime/stage-latency.js'
import type { BlockName, Tracer } from '../core/runtime/tracing.js'
import { acceptRecord, type ChainRecord } from './accept-record.js'
import { type ChainFold, type ChainFoldDeps, openChainFold } from './chain-fold.js'
import type { CapturedCheckpoint } from './checkpoint/checkpoint-writer.js'
import { changeOf, entriesOf, keptForm } from './checkpoint/kept-update.js'
import type { StateChange } from './checkpoint/state-store.js'
import { createDeadLetters, noDeadLetters } from './dead-letters.js'
import { foldFingerprint, lastUpdate } from './epoch.js'
import type { FoldResult } from './fold/block-changes.js'
import type { FoldMeters } from './fold-meters.js'
import { rowFactsOf } from './sink/encode-rows.js'
import { createSink, type Sink, type SinkSettings } from './sink/sink.js'
import type { FoldSettings, FoldState } from './state/fold-state.js'
import { openTradesTopic, type TopicSettings } from './trades-topic.js'

export type PipelineDeps = ChainFoldDeps & {
  settings: FoldSettings & SinkSettings & TopicSettings
  log: EventLog
  codec: Codec
  /** A fold in memory that is at its checkpoint in the state store. */
  continues?: ChainFold | undefined
  /** Called between storing rows and writing their checkpoint. */
  beforeCheckpoint?: () => Promise<void>
  latency?: StageLatency
  meters?: FoldMeters
  tracer?: Tracer | undefined
}

export type PipelineCounts = {
  blocks: number
  swaps: number
  retracts: number
  repeated: number
  /** Waiting for the log to accept updates. */
  logWaitMs: number
}

export type ChainPipeline = {
  readonly state: FoldState
  /** Of the rules and money it folds with. */
  readonly fingerprint: string
  readonly sink: Sink
  readonly counts: PipelineCounts
  readonly deadByReason: ReadonlyMap<string, number>
  /** Offset to read next. */
  readonly position: number
  /** Why the chain cannot continue; null while it can. */
  readonly stopped: DextapeError | null
  /** False while records are applied or a checkpoint is written, and after a failure of either. */
  readonly canCheckpoint: boolean
  /** Applies records and publishes what they changed. */
  process(records: readonly LogRecord[]): Promise<void>
  /** Captures the state at once and resolves when it is written. Meanwhile records can be applied. */
  checkpoint(): Promise<void>
  /** Nothing is written to the state store from now on. */
  close(): Promise<void>
  /** Closes it at its checkpoint; another pipeline may continue with the fold. */
  handOver(): Promise<ChainFold>
}

/** What a batch of records publishes. */
type Outgoing = {
  updates: LogEntry[]
  trades: LogEntry[]
  results: FoldResult[]
  /** When the folded blocks were appended, where known. */
  appendedMs: number[]
  /** Blocks that are traced, with the results they became. */
  traced: Map<FoldResult, { block: BlockName; startMs: number }>
}

export async function openChainPipeline(deps: PipelineDeps): Promise<ChainPipeline> {
  const { facts, generation = 1, settings, log, codec, store } = deps
  const { chain } = facts
  const published = await lastUpdate(log, codec, chain)
  const isContinued = deps.continues?.fingerprint === foldFingerprint(facts, settings.maxTimeBackS, generation)
  const fold =
    isContinued && deps.continues !== undefined ? deps.continues : await openChainFold(deps, published?.epoch ?? 0)
  const { state, checkpoints, history, fingerprint } = fold
  const { epoch } = state
  const onWritten = (rows: number, ms: number) => deps.meters?.stored(chain, rows, ms)
  const lastBlock = state.head?.number ?? null
  const sink = createSink(chain, store, rowFactsOf(state), settings, state.seq, lastBlock, onWritten)
  const assembler = createAssembler()
  const counts: PipelineCounts = { blocks: 0, swaps: 0, retracts: 0, repeated: 0, logWaitMs: 0 }
  const inTopic = blocksTopic(chain, generation)
  const outTopic = updatesTopic(chain)
  const deadLetters =
    deps.beside === undefined ? await createDeadLetters(log, codec, deadTopic(chain), chain) : noDeadLetters()
  /** After a crash the same updates are produced again: those already in the log are not appended twice. */
  const publishedSeq = published?.epoch === epoch ? published.seq : 0
  let { position, lastUpdateKept } = fold
  let stopped: DextapeError | null = null
  let isApplying = false
  let isCheckpointing = false
  let committing: Promise<void> = Promise.resolve()
  /** What made checkpoints impossible: the next start folds again from the last one. */
  let failure: unknown
  await codec.prepare(outTopic, ['block_update'])
  const isPublishing = deps.beside === undefined
  const trades = settings.publishTrades === true && isPublishing ? await openTradesTopic(log, codec, chain) : null
  if (isPublishing && lastUpdateKept !== undefined && published?.epoch !== epoch)
    await log.append(outTopic, entriesOf(lastUpdateKept, chain))

  function decode(record: LogRecord): DecodedRecord | undefined {
    try {
      return codec.decodeLogRecord(record.value, { topic: inTopic, offset: record.offset })
    } catch (error) {
      if (!(error instanceof DextapeError)) throw error
      deadLetters.addRecord(record, inTopic, error)
      return undefined
    }
  }

  function assemble(record: LogRecord): { record: ChainRecord; nextOffset: number } | undefined {
    const decoded = decode(record)
    if (decoded === undefined) return undefined
    if (decoded.kind !== 'block' && decoded.kind !== 'retract') {
      deadLetters.addRecord(record, inTopic, wrongKind(decoded.kind, inTopic, record.offset))
      return undefined
    }
    try {
      const whole = assembler.push(decoded, record.offset)
      return whole as { record: ChainRecord; nextOffset: number } | undefined
    } catch (error) {
      if (!(error instanceof DextapeError)) throw error
      deadLetters.addRecord(record, inTopic, error)
      return undefined
    }
  }

  function encodeUpdate({ update }: FoldResult, arrivedMs: number | undefined): LogEntry[] {
    if (update.seq <= publishedSeq) return []
    const encode = (part: typeof update) => codec.encodeUpdate(outTopic, part)
    const values = splitUpdate(update, encode, log.maxValueBytes)
    return values.map((value) => ({ key: chain, value, timestampMs: update.time * 1000, arrivedMs }))
  }

  /** A block is published whole or not at all: everything is encoded before anything is queued. */
  function prepare(result: FoldResult, { offset, arrivedMs, appendedMs }: LogRecord, outgoing: Outgoing): void {
    const updates = isPublishing ? encodeUpdate(result, arrivedMs) : []
    const tradeEntries = trades?.encode(result, state) ?? []
    for (const event of result.dead) deadLetters.addEvent(event, `${inTopic}@${offset}`, result.update.time)
    outgoing.updates.push(...updates)
    outgoing.trades.push(...tradeEntries)
    outgoing.results.push(result)
    if (appendedMs !== undefined && updates.length > 0) outgoing.appendedMs.push(appendedMs)
  }

  function count(record: ChainRecord, { swaps }: FoldResult): void {
    if (record.kind === 'retract') {
      counts.retracts += 1
      deps.meters?.reorg(chain, record.retract.from_number - record.retract.to_number)
    } else {
      counts.blocks += 1
      counts.swaps += swaps
    }
  }

  /** Rows come last: the store must not have a block that no update published. */
  async function publish({ updates, trades: tradeEntries, results, appendedMs, traced }: Outgoing): Promise<void> {
    const startedMs = performance.now()
    await deadLetters.flush()
    const newest = results.at(-1)
    if (!isPublishing && newest !== undefined) lastUpdateKept = keptForm(encodeUpdate(newest, undefined))
    if (updates.length > 0) await log.append(outTopic, updates)
    for (const since of appendedMs) deps.latency?.observe('fold', since)
    if (trades !== null && tradeEntries.length > 0) await log.append(trades.topic, tradeEntries)
    counts.logWaitMs += performance.now() - startedMs
    for (const result of results) sink.add(result, traced.size === 0 ? undefined : traceOf(result, traced))
  }

  /** Ends the span of the fold, and begins the one of the store. */
  function traceOf(result: FoldResult, traced: Outgoing['traced']): (() => void) | undefined {
    const { block, startMs } = traced.get(result) ?? {}
    if (block === undefined || startMs === undefined) return undefined
    const publishedMs = wallMs()
    const { seq, epoch, kind } = result.update
    deps.tracer?.span(block, 'fold', startMs, publishedMs, { kind, seq, epoch, swaps: result.swaps })
    return () => deps.tracer?.span(block, 'store', publishedMs, wallMs(), { seq, epoch })
  }

  async function apply(records: readonly LogRecord[]): Promise<void> {
    const outgoing: Outgoing = { updates: [], trades: [], results: [], appendedMs: [], traced: new Map() }
    deps.meters?.batch(chain, records.length)
    let isStateAhead = false
    for (const record of records) {
      const whole = assemble(record)
      if (whole === undefined) continue
      try {
        const fold = acceptRecord(state, history, whole.record)
        if (fold === undefined) counts.repeated += 1
        else {
          isStateAhead = true
          const startMs = deps.tracer === undefined ? 0 : wallMs()
          const result = fold()
          prepare(result, record, outgoing)
          const { number, hash } = result.update
          if (deps.tracer?.wants(number)) outgoing.traced.set(result, { block: { chain, number, hash }, startMs })
          isStateAhead = false
          count(whole.record, result)
        }
        position = whole.nextOffset
      } catch (error) {
        if (!(error instanceof DextapeError) || error.code === 'state_damaged') throw error
        stopped = error
        if (isStateAhead) failure = error
        break
      }
    }
    await publish(outgoing)
  }

  /** A published one is no longer needed. */
  function keptChanges(): StateChange[] {
    return lastUpdateKept === undefined ? [] : [changeOf(isPublishing ? null : lastUpdateKept)]
  }

  /** Between two blocks, once their updates are published: capturing clears the marks of what changed. */
  async function checkpoint(): Promise<void> {
    const startedMs = performance.now()
    const { seq } = state
    const nextOffset = position
    const captured = checkpoints.capture(state, history, position, keptChanges())
    await inTurns(captured.copy, check)
    await sink.flush(seq)
    await deps.beforeCheckpoint?.()
    await commit(captured)
    deps.meters?.checkpoint(chain, performance.now() - startedMs)
    if (!isPublishing) return
    lastUpdateKept = undefined
    await log.commit(AGGREGATE_GROUP, inTopic, nextOffset)
  }

  function check(): void {
    if (failure !== undefined) throw failure
  }

  async function commit({ write }: CapturedCheckpoint): Promise<void> {
    check()
    committing = write()
    await committing
  }

  /** What failed halfway is applied in part, or no longer marked as changed: no later checkpoint would be right. */
  async function orFail(work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      failure = error
      throw error
    }
  }

  const canCheckpoint = () => failure === undefined && !isApplying && !isCheckpointing

  async function close(): Promise<void> {
    failure ??= unpublished(chain)
    await committing.catch(() => {})
  }

  return {
    state,
    fingerprint,
    sink,
    counts,
    deadByReason: deadLetters.counts,
    async process(records) {
      if (stopped !== null) return
      check()
      await codec.learn(records.map((record) => record.value))
      isApplying = true
      await orFail(apply(records)).finally(() => {
        isApplying = false
      })
    },
    async checkpoint() {
      if (!canCheckpoint()) throw failure ?? unpublished(chain)
      isCheckpointing = true
      await orFail(checkpoint()).finally(() => {
        isCheckpointing = false
      })
    },
    close,
    async handOver() {
      check()
      await close()
      return { ...fold, position, lastUpdateKept }
    },
    get position() {
      return position
    },
    get stopped() {
      return stopped
    },
    get canCheckpoint() {
      return canCheckpoint()
    },
  }
}

function unpublished(chain: string): DextapeError {
  return new DextapeError({
    code: 'unpublished',
    what: 'Cannot checkpoint: updates are not published yet',
    retry: true,
    where: { chain },
  })
}

function wrongKind(kind: string, topic: string, offset: number): DextapeError {
  return new DextapeError({
    code: 'wrong_kind',
    what: 'Unexpected record kind in topic',
    where: { topic, position: `offset ${offset}` },
    expected: 'a block or a retract',
    got: kind,
  })
}
