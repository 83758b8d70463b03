/** Where a source resumes: at its checkpoint, or after the log's last block if it can resume after any block. */
import type { EventLog } from '../core/log/port.js'
import type { Logger } from '../core/runtime/logger.js'
import { type ChainMark, type Checkpoints, generationCheckpoint, memoryCheckpoints } from './checkpoints.js'
import type { IngestCodec } from './encode-records.js'
import { chainStatus, type IngestStatus } from './ingest-status.js'
import { createPublisher, type Publisher } from './publish.js'
import { readPublished } from './read-published.js'
import type { Source } from './source.js'

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
}

export interface Resume<Position> {
  openPublisher(): Promise<Publisher>
  /** `recent`: the last blocks on the log, newest last; empty for a source that only resumes at its checkpoint. */
  findPosition(publisher: Publisher): Promise<{ from: Position | undefined; recent: ChainMark[] }>
}

export function createResume<Position>(deps: ResumeDeps<Position>): Resume<Position> {
  const { source, log, codec, logger, status, topicOf } = deps
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
      const publisher = await createPublisher({ log, checkpoints, sourceId, onLost, resumedTopic })
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
