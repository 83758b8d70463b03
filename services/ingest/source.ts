/** What every source gives: a chain's records in order, each with the position to go on from once it is published. */
import type { Block, DeadLetter, Retract } from '../core/domain/records.js'

export type SourceRecord = { kind: 'block'; block: Block } | { kind: 'retract'; retract: Retract }

export type SourceItem<Position> =
  | {
      kind: 'record'
      record: SourceRecord
      /** Asked for only when a checkpoint is written. Stored as JSON. */
      position: () => Position
    }
  | { kind: 'dead'; letter: DeadLetter; position: () => Position }
  /** Nothing more right now: what was given so far is published without waiting for a full batch. */
  | { kind: 'idle' }

export interface Source<Position = unknown> {
  /** Names the checkpoint: the same after a restart or a move. Null: it cannot be resumed. */
  readonly id: string | null
  /** For people: in /status and logs. */
  readonly name: string
  /**
   * From a position that an earlier run of the same source gave, or from the start. Returns at the source's end or when the
   * signal aborts; throws when it cannot go on, after giving everything that was whole. `recent`: what `positionAt` is told, for
   * sources that have it.
   */
  items(
    from: Position | undefined,
    signal: AbortSignal,
    recent?: readonly PublishedBlock[],
  ): AsyncGenerator<SourceItem<Position>>
  /**
   * How it goes on after a block that somebody else published, or that it published itself and no checkpoint tells of. `recent`:
   * that block and those below it on the log, newest last, down to a final one (or the log's first): one of them is still in
   * the chain, whatever was reorganised since. For sources of one chain.
   */
  positionAt?(head: PublishedBlock, recent: readonly PublishedBlock[]): Position
  /** The last block it has read, where it does not publish every one. */
  reached?(): number | undefined
  /** Lets go of what it holds: nothing more is asked of it. */
  close?(): Promise<void>
}

/** A block of the chain as it is on the log. */
export type PublishedBlock = { number: number; hash: string; timeS: number; finalizedNumber: number }

export const chainOf = (record: SourceRecord): string =>
  record.kind === 'block' ? record.block.chain : record.retract.chain
