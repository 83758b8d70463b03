/** A slot's block as any way of reading gives it: by request, by a node's notices, or by a Geyser stream. */
import type { RawInBlock } from '../../decode/solana/block/decode-block.js'
import type { ChainNodes, Header } from '../following/chain-nodes.js'

/** `number` is the slot, `parentNumber` the slot of the block before it: those between them were skipped. */
export type SlotHeader = Header & { parentNumber: number }

/** `transactions`: as the node gave them, in any encoding, votes left out or not; each with its place in the block. */
export type SlotBlock = SlotHeader & { transactions: readonly RawInBlock[] }

/** Without what the block holds. */
export const slotHeader = ({ number, hash, parentNumber, parentHash, timeS }: SlotHeader): SlotHeader => ({
  ...{ number, hash, parentNumber, parentHash, timeS },
})

/** `confirmed`: a block may still die, and is then retracted; `finalized`: none does, and all come some seconds later. */
export type Commitment = 'confirmed' | 'finalized'

/** An account as it is now; `data` raw. */
export type SolanaAccount = { owner: string; lamports: bigint; data: Uint8Array }

export interface SlotReader extends ChainNodes<SlotBlock> {
  /** The first block at or after a slot; null: there is none yet. */
  headerFrom(slot: number, signal: AbortSignal): Promise<SlotHeader | null>
  /** In the order asked for; null: no such account. */
  accounts(addresses: readonly string[], signal: AbortSignal): Promise<(SolanaAccount | null)[]>
}
