/** Where each source resumes after a restart: stored in the data directory, next to the log. */
import { open } from 'lmdb'
import type { DataDir } from '../core/data-dir/data-dir.js'
import type { PublishedBlock } from './source.js'

export type ChainMark = PublishedBlock

export type Checkpoint = {
  /** From the source; undefined until one of its records is published. */
  position?: unknown
  /** By topic: the end of the log after this source's last acknowledged append. */
  ends: Record<string, number>
  /** By chain: the last block published. */
  chains: Record<string, ChainMark>
}

export interface Checkpoints {
  get(sourceId: string): Checkpoint | undefined
  put(sourceId: string, checkpoint: Checkpoint): Promise<void>
  close(): Promise<void>
}

/** The key of a generation's checkpoints, for a source that reads one chain. */
export function generationCheckpoint<Id extends string | null>(sourceId: Id, generation: number): Id | string {
  return sourceId === null || generation === 1 ? sourceId : `${sourceId}@g${generation}`
}

export function openCheckpoints(dir: DataDir): Checkpoints {
  const db = open<Checkpoint, string>({ path: dir.sourcesPath, encoding: 'json', noSubdir: false })
  return {
    get: (sourceId) => db.get(sourceId),
    async put(sourceId, checkpoint) {
      await db.put(sourceId, checkpoint)
    },
    close: () => db.close(),
  }
}

/** For a source that cannot be resumed. */
export function memoryCheckpoints(): Checkpoints {
  const kept = new Map<string, Checkpoint>()
  return {
    get: (sourceId) => structuredClone(kept.get(sourceId)),
    async put(sourceId, checkpoint) {
      kept.set(sourceId, structuredClone(checkpoint))
    },
    async close() {},
  }
}
