/** Tokens that the visitor watches; kept in this browser. */
import { createStoredValue } from '../app/store.js'

export type Watched = { id: string; chain: string; token: string; symbol: string; pairId: string }

export const watched = createStoredValue<Watched[]>('dextape-watched', [])

export function toggleWatched(one: Watched): void {
  const known = watched.get()
  const rest = known.filter(({ id }) => id !== one.id)
  watched.set(rest.length === known.length ? [...known, one] : rest)
}
