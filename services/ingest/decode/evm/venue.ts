/**
 * A venue is what holds tokens and trades them: a pool's contract, or a pool inside a singleton (a vault, a pool manager).
 * Two tokens make one pair; more make one pair for each two of them.
 */
import { ZERO_ADDRESS } from '../../../core/domain/chains.js'
import type { EvmLog } from './log.js'

export type Venue = {
  /** The pool's address, a singleton's pool id (0x and 64 digits), or `<token>_fo` for a bonding curve. */
  id: string
  /** A protocol's name in `protocols.ts`. */
  protocol: string
  /** The exchange's name in the API. */
  amm: string
  /** In on-chain order; the native coin is replaced by its wrapped token where the chain has one. */
  tokens: readonly string[]
  /** Hundredths of a basis point; null if variable. */
  fee: number | null
  creator: string | null
  /** Protocol-specific facts: tick spacing, a vault's address … */
  facts?: Readonly<Record<string, string | number | boolean>>
}

/**
 * State carried from log to log. Immutable: a protocol returns a new value and never changes the one it was given,
 * because a reorg restores old ones. It must survive `structuredClone` (bigints and Maps are fine, functions are not).
 * A large state has Maps of Maps: inner maps are stored one by one, so an unchanged one should stay the same object.
 */
export type VenueState = {
  /** Raw, by token; null: not known. */
  reserves: readonly bigint[] | null
}

/** Pair id of two of a venue's tokens, by token index. */
export function pairId({ id, tokens }: Pick<Venue, 'id' | 'tokens'>, first: number, second: number): string {
  return tokens.length === 2 ? id : `${id}_${Math.min(first, second)}_${Math.max(first, second)}`
}

/** Whether a log that names this venue was emitted by another contract than its holder: anybody can emit a log with a pool's id. */
export function isFromOtherContract({ address }: EvmLog, holder: string | number | boolean | undefined): boolean {
  return holder !== undefined && holder !== address
}

/** Adds a log's changes. Unknown reserves stay unknown; a negative result means the reserves were wrong, so they become unknown. */
export function movedReserves(reserves: VenueState['reserves'], moved: readonly bigint[]): VenueState['reserves'] {
  if (reserves === null) return null
  const sums = reserves.map((reserve, place) => reserve + (moved[place] ?? 0n))
  return sums.every((sum) => sum >= 0n) ? sums : null
}

export function sizeOf(amount: bigint): bigint {
  return amount < 0n ? -amount : amount
}

/** Curve's address for the native coin; Uniswap V4 and four.meme use the zero address. */
const ALL_E = `0x${'e'.repeat(40)}`

/** The token that represents the native coin in events; other tokens are returned unchanged. */
export function tradedToken(address: string, { wrappedNative }: { wrappedNative: string | undefined }): string {
  return address === ZERO_ADDRESS || address === ALL_E ? (wrappedNative ?? address) : address
}
