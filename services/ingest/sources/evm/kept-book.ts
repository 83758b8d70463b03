/** The book of a chain in the data directory. What it says can be learned anew from the chain: it saves reading, it is not the truth. */
import type { Book, KnownToken } from '../../decode/evm/block/book.js'
import { type ChainBook, chainBook } from '../following/chain-book.js'
import { JournaledMap, type JournaledMapOptions } from '../following/journaled-map.js'
import { VenueDrawers } from './kept-venues.js'

export type KeptBook = Book & ChainBook

export function openBook(options: JournaledMapOptions): KeptBook {
  const map = new JournaledMap(options)
  const venues = new VenueDrawers(map)
  return {
    venue: (id) => venues.get(id),
    putVenue: (id, known) => venues.put(id, known),
    token: (address) => (map.get(`t/${address}`) as KnownToken | null) ?? undefined,
    putToken: (address, known) => map.set(`t/${address}`, known),
    hasHolder: (token, holder) => map.get(`h/${token}/${holder}`) === true,
    putHolder: (token, holder) => map.set(`h/${token}/${holder}`, true),
    ...chainBook(map),
  }
}
