/** The book of a Solana cluster in the data directory. What it says can be learned anew from the chain: it saves telling twice, it is not the truth. */
import type { Book, KnownHolding, KnownToken } from '../../decode/solana/block/book.js'
import { type ChainBook, chainBook, JournaledMap, type JournaledMapOptions } from '../following/journaled-map.js'

export type KeptSolanaBook = Book & ChainBook

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
