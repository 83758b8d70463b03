/** A chain of slots as nodes report it: some skipped, each block linked to its parent. */
import { createHash } from 'node:crypto'
import { encodeBase58 } from '../../../../../services/ingest/decode/solana/keys/base58.js'
import type { SlotBlock, SlotHeader } from '../../../../../services/ingest/sources/solana/slot-block.js'

export type WireBlock = {
  blockhash: string
  previousBlockhash: string
  parentSlot: number
  blockTime: number | null
  blockHeight: number
  transactions: { transaction: unknown; meta: unknown; version: number }[]
}

export type SlotChain = Map<number, WireBlock>

const hashOf = (text: string): string => encodeBase58(createHash('sha256').update(text).digest())

/** `branch`: the same slot has another block on another branch. */
export function chainOf(slots: readonly number[], before?: WireBlock & { slot: number }, branch = 'a'): SlotChain {
  const chain: SlotChain = new Map()
  let parent = before ?? { slot: (slots[0] ?? 1) - 1, blockhash: hashOf('before'), blockHeight: 0 }
  for (const slot of slots) {
    const block: WireBlock = {
      blockhash: hashOf(`${branch}:${slot}`),
      previousBlockhash: parent.blockhash,
      parentSlot: parent.slot,
      blockTime: 1_700_000_000 + Math.floor(slot * 0.4),
      blockHeight: parent.blockHeight + 1,
      transactions: [0, 1].map((place) => ({
        transaction: { signatures: [hashOf(`${slot}:${place}`)], message: {} },
        meta: { err: null, fee: 5000 },
        version: 0,
      })),
    }
    chain.set(slot, block)
    parent = { slot, ...block }
  }
  return chain
}

/** Every slot in the range except those. */
export const slotsBut = (from: number, to: number, ...skipped: number[]): number[] =>
  Array.from({ length: to - from + 1 }, (_, place) => from + place).filter((slot) => !skipped.includes(slot))

export function headerAt(chain: SlotChain, slot: number): SlotHeader {
  const block = chain.get(slot)
  if (block === undefined) throw new Error(`no block at ${slot}`)
  return {
    number: slot,
    hash: block.blockhash,
    parentNumber: block.parentSlot,
    parentHash: block.previousBlockhash,
    timeS: block.blockTime ?? 0,
  }
}

export const blockAt = (chain: SlotChain, slot: number): SlotBlock => ({
  ...headerAt(chain, slot),
  transactions: (chain.get(slot)?.transactions ?? []).map((value, index) => ({ index, value })),
})

export const blocksIn = (chain: SlotChain, from: number, to: number): SlotBlock[] =>
  [...chain.keys()].filter((slot) => slot >= from && slot <= to).map((slot) => blockAt(chain, slot))
