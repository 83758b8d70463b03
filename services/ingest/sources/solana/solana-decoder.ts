/** Solana blocks → events. Facts of new tokens that are not in the transactions are read from the mints afterwards. */

import type { DeadLetter } from '../../../core/domain/records.js'
import type { Book, KnownHolding, KnownToken } from '../../decode/solana/block/book.js'
import { decodeSolanaBlock, type LostInstruction } from '../../decode/solana/block/decode-block.js'
import type { SolanaRules } from '../../decode/solana/block/decode-rules.js'
import type { BlockDecoder } from '../following/follow-chain.js'
import { type ChainBook, chainBook, JournaledMap, type JournaledMapOptions } from '../following/journaled-map.js'
import type { FactsFiller } from './fill-facts.js'
import type { SlotBlock } from './slot-block.js'

export type SolanaDecoding = {
  chain: string
  /** The source's, for logs. */
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

  /** Holds the transaction as returned by the node, so that a corrected decoder can read it. */
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

export type KeptSolanaBook = Book & ChainBook

/** The book in the data directory. It can be rebuilt from the chain: it only avoids publishing facts twice. */
export function openSolanaBook(options: JournaledMapOptions): KeptSolanaBook {
  const map = new JournaledMap(options)
  return {
    hasPool: (pool) => map.get(`p/${pool}`) === true,
    putPool: (pool) => map.set(`p/${pool}`, true),
    token: (mint) => (map.get(`t/${mint}`) as KnownToken | null) ?? undefined,
    putToken: (mint, known) => map.set(`t/${mint}`, known),
    holding: (mint, owner) => (map.get(holdingKey(mint, owner)) as KnownHolding | null) ?? undefined,
    putHolding: (mint, owner, known) => map.set(holdingKey(mint, owner), known),
    ...chainBook(map),
  }
}

const holdingKey = (mint: string, owner: string): string => `h/${mint}/${owner}`
