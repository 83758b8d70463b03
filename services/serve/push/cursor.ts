/** A place in a chain's pushes: behind the n-th push of an update. */
export type Place = { epoch: number; chain: string; seq: number; n: number }

/** `epoch:chain:seq:n`: the n-th push of an update. */
export type Cursor = (n: number) => string

export function cursorOf({ epoch, chain, seq }: Omit<Place, 'n'>): Cursor {
  return (n) => `${epoch}:${chain}:${seq}:${n}`
}

export const cursorAt = (place: Place): string => cursorOf(place)(place.n)

const CURSOR = /^(\d{1,15}):([A-Za-z0-9_.-]{1,64}):(\d{1,15}):(\d{1,15})$/

export function parseCursor(text: string): Place | undefined {
  const [, epoch, chain, seq, n] = CURSOR.exec(text) ?? []
  if (epoch === undefined || chain === undefined) return undefined
  return { epoch: Number(epoch), chain, seq: Number(seq), n: Number(n) }
}
