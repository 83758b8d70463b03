/** Windows in a checkpoint: buckets in chunks of time, wallets in segments of time, so that only what changed is written. */
import type { BucketRing } from '../state/bucket-ring.js'
import type { FoldState } from '../state/fold-state.js'
import { WALLET_REACH_S, type WalletSegments, type Windows } from '../state/rolling-windows.js'
import type { WalletNames, WalletTable } from '../state/wallets.js'
import { BucketReader, BucketWriter } from './bucket-image.js'
import { pack, padded, type StateChange, type StateStore, unpack } from './state-store.js'

const CHUNK_S = { seconds: 300, minutes: 3600, hours: 86_400 } as const
type RingName = keyof typeof CHUNK_S
const RING_NAMES = ['minutes', 'hours'] as const
type WindowRing = (typeof RING_NAMES)[number]
const SEGMENT_S = 600

export type StoredWindows = {
  segments: readonly number[]
  chunks: Record<WindowRing, readonly number[]>
  before: Record<WindowRing, (number | null)[]>
}

export type WindowFacts = Pick<FoldState, 'names' | 'highNowS' | 'finalNowS'>

/** `owner` is `p/<id>` for a pair, `t/<id>` for a token. */
export function windowsImage(
  owner: string,
  windows: Windows,
  { names, highNowS, finalNowS }: WindowFacts,
  store: StateStore,
): StateChange[] {
  // Never stored: what the store has under this owner is of another one, which a reorg undid.
  const changes = windows.segments === null ? windowsErased(owner, store) : []
  for (const name of RING_NAMES) ringImage(owner, name, windows[name], changes)
  walletsImage(owner, windows, names, highNowS, finalNowS, changes)
  const fields: StoredWindows = {
    segments: windows.segments?.times ?? [],
    chunks: perRing((name) => windows[name].chunks),
    before: perRing((name) => storedCloses(windows[name])),
  }
  changes.push({ key: `v/${owner}`, value: pack(fields) })
  return changes
}

/** Deletions of everything stored for windows that no longer exist. */
export function windowsErased(owner: string, store: StateStore): StateChange[] {
  const stored = storedWindows(owner, store)
  if (stored === undefined) return []
  const keys = [`v/${owner}`, ...stored.segments.map((segment) => segmentKey(owner, segment))]
  for (const name of RING_NAMES) keys.push(...stored.chunks[name].map((chunk) => chunkKey(owner, name, chunk)))
  return keys.map(erased)
}

export const erased = (key: string): StateChange => ({ key, value: null })

export const chunkKey = (owner: string, name: RingName, chunk: number): string => `b/${owner}/${name}/${padded(chunk)}`

const segmentKey = (owner: string, segment: number): string => `w/${owner}/${padded(segment)}`

function storedWindows(owner: string, store: StateStore): StoredWindows | undefined {
  const kept = store.get(`v/${owner}`)
  return kept === undefined ? undefined : unpack<StoredWindows>(kept).fields
}

export function loadWindows(owner: string, windows: Windows, names: WalletNames, store: StateStore): boolean {
  const fields = storedWindows(owner, store)
  if (fields === undefined) return false
  for (const name of RING_NAMES) {
    const ring = windows[name]
    restoreBefore(ring, fields.before[name])
    ring.chunks = fields.chunks[name]
    loadChunks(owner, name, ring, store)
  }
  const segments: WalletSegments = { times: [...fields.segments], newest: new Set(), changed: new Set() }
  windows.segments = segments
  for (const segment of segments.times) {
    const packed = store.get(segmentKey(owner, segment))
    if (packed === undefined) continue
    const { fields: wallets, numbers } = unpack<string[]>(packed)
    segments.newest.clear()
    for (const [n, wallet] of wallets.entries()) {
      segments.newest.add(wallet)
      windows.wallets.set(names.idOf(wallet), numbers[n * 2] as number, numbers[n * 2 + 1] as number)
    }
  }
  return true
}

export function loadChunks(owner: string, name: RingName, ring: BucketRing, store: StateStore): void {
  for (const chunk of ring.chunks) {
    const packed = store.get(chunkKey(owner, name, chunk))
    if (packed === undefined) continue
    // Null: as written at first, every row whole.
    const { fields: count, numbers } = unpack<number | null>(packed)
    ring.append(count === null ? numbers : new BucketReader(numbers).take(count))
  }
}

export function ringImage(owner: string, name: RingName, ring: BucketRing, changes: StateChange[]): void {
  const lengthS = CHUNK_S[name]
  const firstChunk = ring.count === 0 ? Number.POSITIVE_INFINITY : Math.floor(ring.time(0) / lengthS)
  const changedChunk = Math.floor(ring.changedFrom / lengthS)
  const kept = ring.chunks.filter((chunk) => chunk >= firstChunk && chunk < changedChunk)
  let index = Number.isFinite(changedChunk) ? ring.lowerBound(changedChunk * lengthS) : 0
  if (changedChunk === Number.POSITIVE_INFINITY) index = ring.count
  while (index < ring.count) {
    const chunk = Math.floor(ring.time(index) / lengthS)
    const end = ring.lowerBound((chunk + 1) * lengthS)
    const buckets = new BucketWriter(end - index)
    buckets.add(ring, index, end)
    changes.push({ key: chunkKey(owner, name, chunk), value: pack(end - index, buckets.finish()) })
    kept.push(chunk)
    index = end
  }
  const stay = new Set(kept)
  for (const chunk of ring.chunks) {
    if (!stay.has(chunk)) changes.push(erased(chunkKey(owner, name, chunk)))
  }
  ring.chunks = kept
  ring.changedFrom = Number.POSITIVE_INFINITY
}

/** A segment holds every wallet entry that changed while it was the newest; loaded in order, the last one counts. */
function walletsImage(
  owner: string,
  windows: Windows,
  names: WalletNames,
  highNowS: number,
  finalNowS: number,
  changes: StateChange[],
): void {
  const segment = Math.floor(highNowS / SEGMENT_S)
  const oldest = Math.floor((finalNowS - WALLET_REACH_S) / SEGMENT_S)
  windows.segments ??= { times: [], newest: new Set(), changed: namesIn(windows.wallets, names) }
  const { times: known, newest, changed } = windows.segments
  for (const old of known) if (old < oldest) changes.push(erased(segmentKey(owner, old)))
  const kept = known.filter((one) => one >= oldest)
  windows.segments.times = kept
  if (changed.size === 0) return
  if (kept.at(-1) !== segment) {
    kept.push(segment)
    newest.clear()
  }
  for (const wallet of changed) newest.add(wallet)
  changed.clear()
  const wallets = [...newest]
  const times = new Float64Array(wallets.length * 2)
  for (const [n, wallet] of wallets.entries()) times.set(windows.lastTrades(wallet), n * 2)
  changes.push({ key: segmentKey(owner, segment), value: pack(wallets, times) })
}

function namesIn(wallets: WalletTable, names: WalletNames): Set<string> {
  const found = new Set<string>()
  wallets.each((id) => found.add(names.nameOf(id)))
  return found
}

export function storedCloses(ring: BucketRing): (number | null)[] {
  return ring.before.map((close) => (Number.isNaN(close) ? null : close))
}

export function restoreBefore(ring: BucketRing, [usd, native, quote]: (number | null)[]): void {
  ring.before = [usd ?? Number.NaN, native ?? Number.NaN, quote ?? Number.NaN]
}

function perRing<T>(make: (name: WindowRing) => T): Record<WindowRing, T> {
  return { minutes: make('minutes'), hours: make('hours') }
}
