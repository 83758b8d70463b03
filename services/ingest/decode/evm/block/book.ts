/**
 * The book: what the decoder knows of a chain as of the last decoded block. Every change belongs to a block, so that a
 * reorg can undo it.
 */
import type { CheckBook, CheckBudget, KnownCheck } from '../../due-checks.js'
import type { Venue, VenueState } from '../venue.js'

export type KnownVenue = {
  venue: Venue
  state: VenueState
  /** Its pairs that were published. */
  pairs: readonly string[]
  /** Whether liquidity was ever added; null if its creation was not seen. */
  funded: boolean | null
}

/** A token that was published. */
export type KnownToken = {
  /** Is in a pool that is followed. */
  traded: boolean
}

/** The positions (ERC-721) of a pool that were seen. `isComplete`: whether these are all. */
export type KnownPositions = { list: readonly { manager: string; id: string }[]; isComplete: boolean }

/** `unlockAt`: in seconds, where the locker's report is all that tells it. */
export type PositionLock = { locker: string; lockId: string; unlockAt?: string }

/** How far the holders of a token were read who are known from its history. */
export type KnownHolders = {
  /** Names the list of holders that is being read. */
  list: string
  /** The block up to which the list's transfers go. */
  throughBlock: number
  /** Holders of the list that were read. */
  read: number
  /** What contradicts the list: balances that are not the sum of transfers, or do not answer. */
  faults: number
  isDone: boolean
}

export interface Book extends CheckBook {
  holders(token: string): KnownHolders | undefined
  putHolders(token: string, known: KnownHolders): void
  positions(pool: string): KnownPositions | undefined
  putPositions(pool: string, known: KnownPositions): void
  /** Where a position was locked last. */
  positionLock(manager: string, id: string): PositionLock | undefined
  putPositionLock(manager: string, id: string, lock: PositionLock): void
  /** The pool of a position (by its manager) or of a lock (by its locker). */
  poolOf(contract: string, id: string): string | undefined
  putPoolOf(contract: string, id: string, pool: string): void
  venue(id: string): KnownVenue | undefined
  putVenue(id: string, known: KnownVenue): void
  token(address: string): KnownToken | undefined
  putToken(address: string, known: KnownToken): void
  /** Whether the holder's balance was published, so that changes suffice from here on. */
  hasHolder(token: string, holder: string): boolean
  putHolder(token: string, holder: string): void
}

/** A book in memory, for one run, without undo. */
export function memoryBook(): Book {
  const venues = new Map<string, KnownVenue>()
  const tokens = new Map<string, KnownToken>()
  const holders = new Set<string>()
  const lists = new Map<string, KnownHolders>()
  const risks = new Map<string, KnownCheck>()
  const positions = new Map<string, KnownPositions>()
  const locks = new Map<string, PositionLock>()
  const poolsOf = new Map<string, string>()
  let budget: CheckBudget | undefined
  return {
    venue: (id) => venues.get(id),
    putVenue: (id, known) => void venues.set(id, known),
    token: (address) => tokens.get(address),
    putToken: (address, known) => void tokens.set(address, known),
    hasHolder: (token, holder) => holders.has(`${token}/${holder}`),
    putHolder: (token, holder) => void holders.add(`${token}/${holder}`),
    holders: (token) => lists.get(token),
    putHolders: (token, known) => void lists.set(token, known),
    positions: (pool) => positions.get(pool),
    putPositions: (pool, known) => void positions.set(pool, known),
    positionLock: (manager, id) => locks.get(`${manager}/${id}`),
    putPositionLock: (manager, id, lock) => void locks.set(`${manager}/${id}`, lock),
    poolOf: (contract, id) => poolsOf.get(`${contract}/${id}`),
    putPoolOf: (contract, id, pool) => void poolsOf.set(`${contract}/${id}`, pool),
    risk: (token) => risks.get(token),
    putRisk: (token, known) => void risks.set(token, known),
    riskBudget: () => budget,
    putRiskBudget(given) {
      budget = given
    },
  }
}
