import type { SlotBlock } from './slot-block.js'

/** Blocks pushed by a node or a service. It saves requests and time but is not authoritative: missed blocks are requested. */
export interface BlockStream {
  readonly name: string
  /**
   * From a slot if the endpoint can still send it, else from now. Ends when the signal aborts; throws a `NodeFault` when the
   * connection is lost or refused. The caller reconnects with the slot after the last one it received.
   */
  blocks(fromSlot: number | undefined, signal: AbortSignal): AsyncGenerator<SlotBlock>
  close(): void
}

/**
 * Buffers blocks between the connection and the consumer. The connection is always read: pings queue behind blocks, and endpoints
 * disconnect slow clients. If the consumer is slow, the oldest blocks are dropped: they can be requested, and memory stays bounded.
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

  /** With an error: after the buffered blocks. Without: at once. Only the first call counts. */
  end(error?: unknown): void {
    if (this.ended !== undefined) return
    this.ended = { error }
    if (error === undefined) this.waiting.length = 0
    this.wake()
  }

  /** Undefined: ended. Throws the error it ended with. One call at a time. */
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
