/**
 * The book of a chain, in the data directory. Everything in it can be read again from the chain: it saves requests and
 * is not a source of truth.
 */
import type { CheckBudget, KnownCheck } from '../../decode/due-checks.js'
import type {
  Book,
  KnownHolders,
  KnownPositions,
  KnownToken,
  KnownVenue,
  PositionLock,
} from '../../decode/evm/block/book.js'
import type { VenueState } from '../../decode/evm/venue.js'
import { type ChainBook, chainBook, JournaledMap, type JournaledMapOptions } from '../following/journaled-map.js'

export type KeptBook = Book & ChainBook

export function openBook(options: JournaledMapOptions): KeptBook {
  const map = new JournaledMap(options)
  const venues = new VenueBuckets(map)
  return {
    venue: (id) => venues.get(id),
    putVenue: (id, known) => venues.put(id, known),
    token: (address) => (map.get(`t/${address}`) as KnownToken | null) ?? undefined,
    putToken: (address, known) => map.set(`t/${address}`, known),
    hasHolder: (token, holder) => map.get(`h/${token}/${holder}`) === true,
    putHolder: (token, holder) => map.set(`h/${token}/${holder}`, true),
    holders: (token) => (map.get(`b/${token}`) as KnownHolders | null) ?? undefined,
    putHolders: (token, known) => map.set(`b/${token}`, known),
    positions: (pool) => (map.get(`n/${pool}`) as KnownPositions | null) ?? undefined,
    putPositions: (pool, known) => map.set(`n/${pool}`, known),
    positionLock: (manager, id) => (map.get(`l/${manager}/${id}`) as PositionLock | null) ?? undefined,
    putPositionLock: (manager, id, lock) => map.set(`l/${manager}/${id}`, lock),
    poolOf: (contract, id) => (map.get(`k/${contract}/${id}`) as string | null) ?? undefined,
    putPoolOf: (contract, id, pool) => map.set(`k/${contract}/${id}`, pool),
    risk: (token) => (map.get(`r/${token}`) as KnownCheck | null) ?? undefined,
    putRisk: (token, known) => map.set(`r/${token}`, known),
    riskBudget: () => (map.get('risk') as CheckBudget | null) ?? undefined,
    putRiskBudget: (budget) => map.set('risk', budget),
    ...chainBook(map),
  }
}

/**
 * A venue's state can be large (thousands of ticks and positions) while each trade changes a small part. Where it has a
 * Map of Maps, the inner maps are buckets: each is stored under its own key, and written or rolled back only when it is
 * a different object.
 */

type Name = string | number
type Buckets = ReadonlyMap<Name, ReadonlyMap<unknown, unknown>>
type State = VenueState & Record<string, unknown>

/** The stored form: the state without its buckets, and their names by field. */
type Kept = { known: KnownVenue; names: Record<string, readonly Name[]> }

export class VenueBuckets {
  /** Assembled venues: stored values are immutable, so assembling once is enough. */
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
    // Fast path: most venues have no buckets, and a backfill stores most venues with every block.
    if (!hasBuckets(known.state) && (before === null || isEmpty(before.names))) {
      this.map.set(venueKey(id), { known, names: {} } satisfies Kept)
      return
    }
    const state: State = { ...known.state }
    const names: Record<string, readonly Name[]> = {}
    for (const [field, buckets] of Object.entries(state)) {
      if (!areBuckets(buckets)) continue
      delete state[field]
      names[field] = [...buckets.keys()]
      for (const [name, bucket] of buckets) this.putBucket(bucketKey(id, field, name), bucket)
    }
    for (const [field, gone] of Object.entries(before?.names ?? {})) {
      const still = new Set(names[field])
      for (const name of gone) if (!still.has(name)) this.putBucket(bucketKey(id, field, name), null)
    }
    const kept: Kept = { known: { ...known, state }, names }
    this.whole.set(kept, known)
    this.map.set(venueKey(id), kept)
  }

  private putBucket(key: string, bucket: ReadonlyMap<unknown, unknown> | null): void {
    if (this.map.get(key) !== bucket) this.map.set(key, bucket)
  }

  private kept(id: string): Kept | null {
    return this.map.get(venueKey(id)) as Kept | null
  }

  private assembled(id: string, { known, names }: Kept): KnownVenue {
    const state: State = { ...known.state }
    for (const [field, list] of Object.entries(names)) {
      state[field] = new Map(list.map((name) => [name, this.map.get(bucketKey(id, field, name))]))
    }
    return { ...known, state }
  }
}

const venueKey = (id: string): string => `v/${id}`
const bucketKey = (id: string, field: string, name: Name): string => `d/${id}/${field}/${name}`

function isEmpty(names: Kept['names']): boolean {
  for (const _ in names) return false
  return true
}

function hasBuckets(state: VenueState): boolean {
  for (const field in state) if (areBuckets((state as State)[field])) return true
  return false
}

function areBuckets(value: unknown): value is Buckets {
  if (!(value instanceof Map)) return false
  for (const inner of value.values()) return inner instanceof Map
  return false
}
