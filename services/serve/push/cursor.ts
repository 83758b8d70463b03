/** A position in a chain's pushes: after the n-th push of an update. */
export type Place = { epoch: number; chain: string; seq: number; n: number }

/** `epoch:chain:seq:n`: the n-th push of an update. */
export type Cursor = (n: number) => string

export function cursorOf({ epoch, chain, seq }: Omit<Place, 'n'>): Cursor {
  const update = `${epoch}:${chain}:${seq}:`
  return (n) => update + n
}

export const cursorAt = (place: Place): string => cursorOf(place)(place.n)

const CURSOR = /^(\d{1,15}):([A-Za-z0-9_.-]{1,64}):(\d{1,15}):(\d{1,15})$/

export function parseCursor(text: string): Place | undefined {
  const [, epoch, chain, seq, n] = CURSOR.exec(text) ?? []
  if (epoch === undefined || chain === undefined) return undefined
  return { epoch: Number(epoch), chain, seq: Number(seq), n: Number(n) }
}

/** Above the number of any regular push of an update. */
export const FIRST_CLOSING = 10_000_000_000
const PAIR_NUMBERS = 2 ** 32

/**
 * The number of a push that closes a candle of an interval (its index). It counts as part of the update before the one that closed it. It is derived
 * from the candle, so it is the same on every node, whichever candles a node has.
 */
export function closingNumber(pair: string, interval: number): number {
  return FIRST_CLOSING + interval * PAIR_NUMBERS + hash32(pair)
}

/** FNV-1a. */
function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}
