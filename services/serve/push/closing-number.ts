import { AT, figureOf, type PackedCandle } from '../memory/packed-candle.js'

/** Above the number of any push that an update itself makes. */
export const FIRST_CLOSING = 10_000_000_000
const PAIR_NUMBERS = 2 ** 32

/**
 * The number of the push that ends a candle, in the update before the one that ended it: time passed between the two. It follows
 * from the candle itself, so that it is the same on every node, whichever candles a node knows.
 */
export function closingNumber(pair: string, candle: PackedCandle): number {
  return FIRST_CLOSING + figureOf(candle, AT.interval) * PAIR_NUMBERS + hash32(pair)
}

/** FNV-1a. */
function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}
