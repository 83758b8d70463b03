/** Blocks of Solana → their events; what transactions do not tell of new tokens is read afterwards, from their mints. */
import type { DeadLetter } from '../../../core/domain/records.js'
import type { Book } from '../../decode/solana/block/book.js'
import { decodeSolanaBlock, type LostInstruction } from '../../decode/solana/block/decode-block.js'
import type { SolanaRules } from '../../decode/solana/block/rules.js'
import type { BlockDecoder } from '../following/follow-chain.js'
import type { FactsFiller } from './fill-facts.js'
import type { SlotBlock } from './slot-block.js'

export type SolanaDecoding = {
  chain: string
  /** The source's, for people. */
  name: string
  rules: SolanaRules
  book: Book
  facts: FactsFiller
}

export function solanaDecoder({ chain, name, rules, book, facts }: SolanaDecoding): BlockDecoder<SlotBlock> {
  return {
    prepare: async () => (block) => {
      const { events, lost } = decodeSolanaBlock(block.number, block.transactions, book, rules)
      return { events, lost: lost.map((one) => deadLetterOf(one, block)) }
    },
    complete: (decoded, signal) => facts.fill(decoded, signal),
  }

  /** With the transaction as the node gave it, so that a corrected decoder can take it. */
  function deadLetterOf(
    { reason, detail, txIndex, order, value }: LostInstruction,
    { number, timeS }: SlotBlock,
  ): DeadLetter {
    return {
      ...{ chain, reason, detail, source: name },
      block_number: number,
      position: `${txIndex}:${order}:0`,
      raw: Buffer.from(JSON.stringify(value)),
      at: timeS,
    }
  }
}
