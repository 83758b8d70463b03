/** Where a source resumes: at its checkpoint, or after the log's last block if it can resume after any block. */
import { DextapeError } from '../core/domain/errors.js'
import type { Codec, DecodedRecord } from '../core/log/codec.js'
import { createAssembler } from '../core/log/parts.js'
import type { EventLog } from '../core/log/port.js'
import type { Logger } from '../core/runtime/logger.js'
import type { StageLatency } from '../core/runtime/stage-latency.js'
import type { Tracer } from '../core/runtime/tracing.js'
import { type ChainMark, type Checkpoints, generationCheckpoint, memoryCheckpoints } from './checkpoints.js'
import type { IngestCodec } from './encode-records.js'
import { chainStatus, type IngestStatus } from './ingest-status.js'
import { createPublisher, type Publisher } from './publish.js'
import type { PublishedBlock, Source } from './source.js'

export type ResumeDeps<Position> = {
  source: Source<Position>
  log: EventLog
  codec: IngestCodec
  checkpoints: Checkpoints
  logger: Logger
  status: IngestStatus
  topicOf(chain: string): string
  generationOf?: (chain: string) => number
  /** The chain of a source that can resume after any block. */
  chain?: string
  latency?: StageLatency
  tracer?: Tracer | undefined
}

export interface Resume<Position> {
  openPublisher(): Promise<Publisher>
  /** `recent`: the last blocks on the log, newest last; empty for a source that only resumes at its checkpoint. */
  findPosition(publisher: Publisher): Promise<{ from: Position | undefined; recent: ChainMark[] }>
}

export function createResume<Position>(deps: ResumeDeps<Position>): Resume<Position> {
  const { source, log, codec, logger, status, topicOf, latency, tracer } = deps
  const checkpoints = source.id === null ? memoryCheckpoints() : deps.checkpoints
  // Each generation has its own checkpoints if the source reads one chain.
  const generation = deps.chain === undefined ? 1 : (deps.generationOf?.(deps.chain) ?? 1)
  const sourceId = source.id === null ? 'stream' : generationCheckpoint(source.id, generation)
  const resumedChain = source.positionAt === undefined ? undefined : deps.chain
  return {
    async openPublisher() {
      const onLost = (topic: string) =>
        logger.warn('the log ends before the checkpoint, reading the source from its start', { topic })
      const resumedTopic = resumedChain === undefined ? undefined : topicOf(resumedChain)
      const publisher = await createPublisher({ log, checkpoints, sourceId, onLost, resumedTopic, latency, tracer })
      for (const [chain, mark] of Object.entries(publisher.checkpoint.chains)) chainStatus(status, chain).head = mark
      return publisher
    },
    async findPosition({ checkpoint }) {
      const stored = checkpoint.position as Position | undefined
      if (source.positionAt === undefined || resumedChain === undefined) return { from: stored, recent: [] }
      const recent = await readPublished(log, codec, topicOf(resumedChain))
      const head = recent.at(-1)
      if (head === undefined) return { from: stored, recent }
      chainStatus(status, resumedChain).head = head
      const isCurrent = checkpoint.chains[resumedChain]?.hash === head.hash
      return { from: stored !== undefined && isCurrent ? stored : source.positionAt(head, recent), recent }
    },
  }
}

type Reading = Pick<Codec, 'decodeLogRecord' | 'learn'>

const FIRST_LOOK_RECORDS = 256

/**
 * The end of a chain on the log, whichever process published it: the last blocks, newest last, down to a final one or the topic's
 * first. Empty: the topic has no block.
 */
export async function readPublished(log: EventLog, codec: Reading, topic: string): Promise<PublishedBlock[]> {
  const { start, end } = await log.info(topic)
  // After a deep reorg, or far above finality, read further back.
  for (let records = FIRST_LOOK_RECORDS; ; records *= 8) {
    const from = Math.max(start, end - records)
    const blocks = await blocksFrom(log, codec, topic, from, end)
    const head = blocks?.at(-1)
    const lowest = blocks?.findLastIndex(({ number }) => head !== undefined && number <= head.finalizedNumber) ?? -1
    if (blocks !== undefined && lowest !== -1) return blocks.slice(lowest)
    if (from === start) return blocks ?? []
  }
}

/** Undefined: more blocks were retracted than read. */
async function blocksFrom(
  log: EventLog,
  codec: Reading,
  topic: string,
  start: number,
  end: number,
): Promise<PublishedBlock[] | undefined> {
  const assembler = createAssembler()
  let blocks: PublishedBlock[] | undefined = []
  for (let from = start; from < end; ) {
    const records = await log.read(topic, { from })
    const last = records.at(-1)
    if (last === undefined) break
    from = last.offset + 1
    await codec.learn(records.map(({ value }) => value))
    for (const { value, offset } of records) {
      if (offset >= end) break
      const whole = usable(() => assembler.push(codec.decodeLogRecord(value, { topic, offset }), offset))
      if (whole !== undefined) blocks = after(blocks, whole.record)
    }
  }
  return blocks
}

/** Unreadable records are skipped, as in aggregate, and so is the rest of a block that started before the first record read. */
function usable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof DextapeError) return undefined
    throw error
  }
}

function after(blocks: PublishedBlock[] | undefined, record: DecodedRecord): PublishedBlock[] | undefined {
  if (record.kind === 'block') {
    const { number, hash, time, finalized_number } = record.block
    const known = blocks ?? []
    known.push({ number, hash, timeS: time, finalizedNumber: finalized_number })
    return known
  }
  if (record.kind !== 'retract') return blocks
  const stays = blocks?.findLastIndex(({ hash }) => hash === record.retract.to_hash) ?? -1
  return stays === -1 ? undefined : blocks?.slice(0, stays + 1)
}
