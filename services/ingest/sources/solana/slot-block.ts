/** A slot's block, independent of how it was read: RPC, a node's notices or a Geyser stream. */
import type { RawInBlock } from '../../decode/solana/block/decode-block.js'
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
}
