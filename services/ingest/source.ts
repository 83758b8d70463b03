/** The interface of a source: records in order, each with the position to resume from once it is published. */
import type { Block, DeadLetter, Retract } from '../core/domain/records.js'

export type SourceRecord = { kind: 'block'; block: Block } | { kind: 'retract'; retract: Retract }

export type SourceItem<Position> =
  | {
      kind: 'record'
      record: SourceRecord
      /** Called only when a checkpoint is written. Stored as JSON. */
      position: () => Position
    }
  | { kind: 'dead'; letter: DeadLetter; position: () => Position }
  /** Nothing more right now: items so far are published without waiting for a full batch. */
  | { kind: 'idle' }

export interface Source<Position = unknown> {
  /** Key of its checkpoint: the same after a restart or a move. Null: it cannot be resumed. */
  readonly id: string | null
  /** For /status and logs. */
  readonly name: string
  /**
   * From a position of an earlier run, or from the start. Returns at the source's end or when the signal aborts; throws if it
   * fails, after yielding everything valid. `recent`: as for `positionAt`, for sources that have it.
   */
  items(
    from: Position | undefined,
    signal: AbortSignal,
    recent?: readonly PublishedBlock[],
  ): AsyncGenerator<SourceItem<Position>>
  /**
   * The position to resume after a block without a checkpoint, published by this or another process. `recent`: that block and
   * those below it on the log, newest last, down to a final one (or the log's first): one of them is still on the chain after
   * any reorg. For sources of one chain.
   */
  positionAt?(head: PublishedBlock, recent: readonly PublishedBlock[]): Position
  /** The last block it has read, if it does not publish every block. */
  reached?(): number | undefined
  /** Releases its resources. It is not used afterwards. */
  close?(): Promise<void>
}

/** A block as published on the log. */
export type PublishedBlock = { number: number; hash: string; timeS: number; finalizedNumber: number }

export const chainOf = (record: SourceRecord): string =>
  record.kind === 'block' ? record.block.chain : record.retract.chain
