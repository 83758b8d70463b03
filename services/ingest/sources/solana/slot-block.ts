/** A slot's block, independent of how it was read (RPC, a node's notices or a Geyser stream), and streams of blocks. */
import type { RawInBlock } from '../../decode/solana/block/decode-block.js'
import type { AccountList, ListedAccount } from '../../decode/solana/locks/state-rounds.js'
import type { ChainNodes, Header } from '../following/chain-nodes.js'

/** `number` is the slot, `parentNumber` the parent's slot: slots in between were skipped. */
export type SlotHeader = Header & { parentNumber: number }

/** `transactions`: as returned by the node, in any encoding, with or without votes; each with its index in the block. */
export type SlotBlock = SlotHeader & { transactions: readonly RawInBlock[] }

/** Without the transactions. */
export const slotHeader = ({ number, hash, parentNumber, parentHash, timeS }: SlotHeader): SlotHeader => ({
  ...{ number, hash, parentNumber, parentHash, timeS },
})

/** `confirmed`: blocks may be orphaned and are then retracted; `finalized`: never orphaned, but some seconds later. */
export type Commitment = 'confirmed' | 'finalized'

/** A current account; `data` raw. */
export type SolanaAccount = { owner: string; lamports: bigint; data: Uint8Array }

export interface SlotReader extends ChainNodes<SlotBlock> {
  /** The first block at or after a slot; null: none yet. A node that pruned it returns the first block it still has; its link shows that. */
  headerFrom(slot: number, signal: AbortSignal): Promise<SlotHeader | null>
  /** In the order of `addresses`; null: no such account. */
  accounts(addresses: readonly string[], signal: AbortSignal): Promise<(SolanaAccount | null)[]>
  /** Null: the nodes do not list accounts, or not in time. */
  listed(list: AccountList, signal: AbortSignal): Promise<readonly ListedAccount[] | null>
}

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
