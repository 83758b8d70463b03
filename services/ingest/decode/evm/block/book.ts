/** What is known of a chain as of the last block decoded. Every change belongs to a block, so that a reorg can go back. */
import type { Venue, VenueState } from '../venue.js'

export type KnownVenue = {
  venue: Venue
  state: VenueState
  /** Its pairs that the log has heard of. */
  pairs: readonly string[]
  /** Whether anybody ever added liquidity; null: it was met in mid-life, so nobody knows. */
  funded: boolean | null
}

/** A token the log has heard of. */
export type KnownToken = {
  /** Stands in a pool that is followed. */
  traded: boolean
}

export interface Book {
  venue(id: string): KnownVenue | undefined
  putVenue(id: string, known: KnownVenue): void
  token(address: string): KnownToken | undefined
  putToken(address: string, known: KnownToken): void
  /** Whether the log knows the holder's balance, so that a change is enough from here on. */
  hasHolder(token: string, holder: string): boolean
  putHolder(token: string, holder: string): void
}

/** A book for a single reading, without a way back. */
export function memoryBook(): Book {
  const venues = new Map<string, KnownVenue>()
  const tokens = new Map<string, KnownToken>()
  const holders = new Set<string>()
  return {
    venue: (id) => venues.get(id),
    putVenue: (id, known) => void venues.set(id, known),
    token: (address) => tokens.get(address),
    putToken: (address, known) => void tokens.set(address, known),
    hasHolder: (token, holder) => holders.has(`${token}/${holder}`),
    putHolder: (token, holder) => void holders.add(`${token}/${holder}`),
  }
}
