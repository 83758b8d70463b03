/** A cursor as one ascending number: the update within the epoch, then the push within the update. */
export type Place = number
/** Pushes that close candles come after all others of an update and have separate numbers. */
export const CLOSING = 2 ** 24 - 1
export const placeOf = (seq: number, n: number): Place => seq * 2 ** 24 + Math.min(n, CLOSING)
export const seqOf = (place: Place): number => Math.floor(place / 2 ** 24)
export const numberOf = (place: Place): number => place % 2 ** 24
