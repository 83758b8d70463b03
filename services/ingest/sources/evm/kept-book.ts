/** The book of a chain in the data directory. What it says can be learned anew from the chain: it saves reading, it is not the truth. */
import type { Book, KnownToken, KnownVenue } from '../../decode/evm/block/book.js'
import type { VenueState } from '../../decode/evm/venue.js'
import { type ChainBook, chainBook, JournaledMap, type JournaledMapOptions } from '../following/journaled-map.js'

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

/**
 * A venue's state can be large (thousands of ticks and positions) and changes with every trade in a small part. Where it has a Map of
 * Maps, the inner ones are drawers: each is kept under a key of its own and written, and gone back to, only when it is another object.
 */

type Name = string | number
type Drawers = ReadonlyMap<Name, ReadonlyMap<unknown, unknown>>
type State = VenueState & Record<string, unknown>

/** What stands in the state in place of the drawers. */
type Kept = { known: KnownVenue; names: Record<string, readonly Name[]> }

export class VenueDrawers {
  /** Put together again: values never change, so neither does what belongs to them. */
  private readonly whole = new WeakMap<Kept, KnownVenue>()

  constructor(private readonly map: Pick<JournaledMap, 'get' | 'set'>) {}

  get(id: string): KnownVenue | undefined {
    const kept = this.kept(id)
    if (kept === null) return undefined
    if (isEmpty(kept.names)) return kept.known
    const known = this.whole.get(kept) ?? this.assembled(id, kept)
    this.whole.set(kept, known)
    return known
  }

  put(id: string, known: KnownVenue): void {
    const before = this.kept(id)
    // Most have none, and most of a history's venues are put with every block.
    if (!hasDrawers(known.state) && (before === null || isEmpty(before.names))) {
      this.map.set(venueKey(id), { known, names: {} } satisfies Kept)
      return
    }
    const state: State = { ...known.state }
    const names: Record<string, readonly Name[]> = {}
    for (const [field, drawers] of Object.entries(state)) {
      if (!isDrawers(drawers)) continue
      delete state[field]
      names[field] = [...drawers.keys()]
      for (const [name, drawer] of drawers) this.putDrawer(drawerKey(id, field, name), drawer)
    }
    for (const [field, gone] of Object.entries(before?.names ?? {})) {
      const still = new Set(names[field])
      for (const name of gone) if (!still.has(name)) this.putDrawer(drawerKey(id, field, name), null)
    }
    const kept: Kept = { known: { ...known, state }, names }
    this.whole.set(kept, known)
    this.map.set(venueKey(id), kept)
  }

  private putDrawer(key: string, drawer: ReadonlyMap<unknown, unknown> | null): void {
    if (this.map.get(key) !== drawer) this.map.set(key, drawer)
  }

  private kept(id: string): Kept | null {
    return this.map.get(venueKey(id)) as Kept | null
  }

  private assembled(id: string, { known, names }: Kept): KnownVenue {
    const state: State = { ...known.state }
    for (const [field, list] of Object.entries(names)) {
      state[field] = new Map(list.map((name) => [name, this.map.get(drawerKey(id, field, name))]))
    }
    return { ...known, state }
  }
}

const venueKey = (id: string): string => `v/${id}`
const drawerKey = (id: string, field: string, name: Name): string => `d/${id}/${field}/${name}`

function isEmpty(names: Kept['names']): boolean {
  for (const _ in names) return false
  return true
}

function hasDrawers(state: VenueState): boolean {
  for (const field in state) if (isDrawers((state as State)[field])) return true
  return false
}

function isDrawers(value: unknown): value is Drawers {
  if (!(value instanceof Map)) return false
  for (const inner of value.values()) return inner instanceof Map
  return false
}
