/** Reserves followed by what each log moves. */
import type { VenueState } from './venue.js'

/** Unknown stays unknown; what would fall below nothing was not the venue's, so it is unknown from then on. */
export function movedReserves(reserves: VenueState['reserves'], moved: readonly bigint[]): VenueState['reserves'] {
  if (reserves === null) return null
  const sums = reserves.map((reserve, place) => reserve + (moved[place] ?? 0n))
  return sums.every((sum) => sum >= 0n) ? sums : null
}

export function sizeOf(amount: bigint): bigint {
  return amount < 0n ? -amount : amount
}
