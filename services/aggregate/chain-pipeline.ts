/** One chain's way: decoded record → fold → updates, rows, checkpoint. */

import type { ChainFacts } from '../core/domain/chains.js'
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
import type { Store } from '../core/store/port.js'
import { applyRecord, type ChainRecord } from './accept.js'
import { KeptHistory } from './checkpoint/history.js'
import { CheckpointKeeper } from './checkpoint/keeper.js'
import { readMeta, restingState, restoreState } from './checkpoint/restore.js'
import type { StateStore } from './checkpoint/state-store.js'
import { createDeadLetters } from './dead-letters.js'
import { foldFingerprint, lastUpdate } from './epoch.js'
import type { FoldResult } from './fold/result.js'
import { chainFactsFor } from './sink/facts.js'
import { forgetOlderEpochs } from './sink/maintenance.js'
import { createSink, type Sink, type SinkSettings } from './sink/sink.js'
import { ChainState, type FoldSettings } from './state/chain-state.js'
import { openTradesTopic } from './trades-topic.js'

/** `publishTrades`: trades are also published one by one. */
export type TopicSettings = { publishTrades?: boolean }

export type PipelineDeps = {
  facts: ChainFacts
  /** Of the chain's history; 1 unless told. */
  generation?: number
  settings: FoldSettings & SinkSettings & TopicSettings
  log: EventLog
  codec: Codec
  store: Store
  stateStore: StateStore
}

export type PipelineCounts = {
  blocks: number
  swaps: number
  retracts: number
  repeated: number
}

export type ChainPipeline = {
  readonly state: ChainState
  readonly sink: Sink
  readonly counts: PipelineCounts
  readonly deadByReason: ReadonlyMap<string, number>
  /** Offset to read next. */
  readonly position: number
  /** Set when the chain cannot go on. */
  readonly stopped: DextapeError | null
  /** Applies records and publishes what they changed. */
  process(records: readonly LogRecord[]): Promise<void>
  checkpoint(): Promise<void>
}

export async function openChainPipeline(deps: PipelineDeps): Promise<ChainPipeline> {
  const { facts, generation = 1, settings, log, codec, store, stateStore } = deps
  const { chain } = facts
  const fingerprint = foldFingerprint(facts, settings.maxTimeBackS, generation)
  const keeper = new CheckpointKeeper(stateStore, fingerprint)
  const resting = restingState(stateStore, keeper.pendingBalances)
  const published = await lastUpdate(log, codec, chain)
  const meta = readMeta(stateStore)
  const same = meta !== undefined && meta.fingerprint === fingerprint
  const epoch = same ? meta.epoch : Math.max(meta?.epoch ?? 0, published?.epoch ?? 0) + 1
  if (!same) {
    await stateStore.clear()
    if (epoch > 1) await forgetOlderEpochs(store, chain, epoch)
  }
  const state = same
    ? restoreState(facts, settings, meta, stateStore, resting)
    : new ChainState(facts, settings, epoch, resting)
  if (same) keeper.resume(meta.journals)
  const history = new KeptHistory(stateStore)
  // An epoch is written down before its first update: a crash before the first checkpoint must not begin another.
  if (!same) await keeper.capture(state, history, 0)()
  const sink = createSink(chain, store, chainFactsFor(state), settings, state.seq)
  const assembler = createAssembler()
  const counts: PipelineCounts = { blocks: 0, swaps: 0, retracts: 0, repeated: 0 }
  const inTopic = blocksTopic(chain, generation)
  const outTopic = updatesTopic(chain)
  const deadLetters = await createDeadLetters(log, codec, deadTopic(chain), chain)
  /** After a crash the same updates come again: those already in the log are not appended twice. */
  const publishedSeq = published?.epoch === epoch ? published.seq : 0
  let position = same ? meta.position : 0
  let stopped: DextapeError | null = null
  /** What was applied is on the log. Once it is not, nothing may be checkpointed: the next start must fold it again. */
  let isPublished = true
  await codec.prepare(outTopic, ['update'])
  const trades = settings.publishTrades === true ? await openTradesTopic(log, codec, chain) : null

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

  function apply(whole: ChainRecord): FoldResult | undefined {
    const result = applyRecord(state, history, whole)
    if (result === undefined) counts.repeated += 1
    else if (whole.kind === 'retract') {
      counts.retracts += 1
    } else {
      counts.blocks += 1
      counts.swaps += result.swaps
    }
    return result
  }

  function encodeUpdate({ update }: FoldResult, into: LogEntry[]): void {
    if (update.seq <= publishedSeq) return
    const encode = (part: typeof update) => codec.encodeUpdate(outTopic, part)
    for (const value of splitUpdate(update, encode, log.maxValueBytes)) {
      into.push({ key: chain, value, timestampMs: update.time * 1000 })
    }
  }

  async function process(records: readonly LogRecord[]): Promise<void> {
    const entries: LogEntry[] = []
    await codec.learn(records.map((record) => record.value))
    isPublished = false
    for (const record of records) {
      const whole = assemble(record)
      if (whole === undefined) continue
      try {
        const result = apply(whole.record)
        position = whole.nextOffset
        if (result === undefined) continue
        encodeUpdate(result, entries)
        trades?.add(result, state)
        sink.add(result)
        for (const event of result.dead) deadLetters.addEvent(event, `${inTopic}@${record.offset}`, result.update.time)
      } catch (error) {
        if (!(error instanceof DextapeError)) throw error
        stopped = error
        break
      }
    }
    await deadLetters.flush()
    if (entries.length > 0) await log.append(outTopic, entries)
    await trades?.flush()
    isPublished = true
  }

  return {
    state,
    sink,
    counts,
    deadByReason: deadLetters.counts,
    process,
    async checkpoint() {
      if (!isPublished) throw unpublished(chain)
      const write = keeper.capture(state, history, position)
      await sink.flush()
      await write()
      await log.commit(AGGREGATE_GROUP, inTopic, position)
    },
    get position() {
      return position
    },
    get stopped() {
      return stopped
    },
  }
}

function unpublished(chain: string): DextapeError {
  return new DextapeError({
    code: 'unpublished',
    what: 'No checkpoint over updates that are not on the log',
    retry: true,
    where: { chain },
  })
}

function wrongKind(kind: string, topic: string, offset: number): DextapeError {
  return new DextapeError({
    code: 'wrong_kind',
    what: 'A record does not belong into its topic',
    where: { topic, position: `offset ${offset}` },
    expected: 'a block or a retract',
    got: kind,
  })
}
