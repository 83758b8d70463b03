import type { SlotBlock } from './slot-block.js'

/** Blocks as they come, from a node or a service that sends them by itself. What it misses is asked for: it saves requests and time, it is not the truth. */
export interface BlockStream {
  readonly name: string
  /**
   * From a slot on where the other side can still send it, else from now. Ends when the signal aborts; throws when the connection is lost or refused (a
   * `NodeFault`): who listens comes back with the slot after the last one it got.
   */
  blocks(fromSlot: number | undefined, signal: AbortSignal): AsyncGenerator<SlotBlock>
  close(): void
}

/**
 * Blocks between the connection and who takes them. The connection is always read on: pings wait behind blocks, and the other side cuts off who lags.
 * So where blocks are taken too slowly the oldest are dropped: they can be asked for, and memory stays bounded.
 */
export class BlockQueue<T> {
  private readonly waiting: T[] = []
  private ended: { error: unknown } | undefined
  private wake: () => void = () => {}

  constructor(private readonly maxWaiting: number) {}

  push(block: T): void {
    if (this.ended !== undefined) return
    this.waiting.push(block)
    if (this.waiting.length > this.maxWaiting) this.waiting.shift()
    this.wake()
  }

  /** After what is waiting. The first end counts; without an error nothing is waited for any more. */
  end(error?: unknown): void {
    if (this.ended !== undefined) return
    this.ended = { error }
    if (error === undefined) this.waiting.length = 0
    this.wake()
  }

  /** Undefined: ended. Throws what it ended with. One call at a time. */
  async next(): Promise<T | undefined> {
    while (this.waiting.length === 0 && this.ended === undefined)
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    const block = this.waiting.shift()
    if (block === undefined && this.ended?.error !== undefined) throw this.ended.error
    return block
  }
}
