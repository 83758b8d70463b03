/** Windows in a checkpoint: buckets in chunks of time, wallets in segments of time, so that only what changed is written. */
import type { BucketRing } from '../state/bucket-ring.js'
import { WALLET_REACH_S, type Windows } from '../state/rolling-windows.js'
import type { WalletNames } from '../state/wallets.js'
import { pack, padded, type StateChange, type StateStore, unpack } from './state-store.js'

const CHUNK_S = { seconds: 300, minutes: 3600, hours: 86_400 } as const
type RingName = keyof typeof CHUNK_S
const RING_NAMES = ['minutes', 'hours'] as const
type WindowRing = (typeof RING_NAMES)[number]
const SEGMENT_S = 600

type StoredWindows = {
  segments: number[]
  chunks: Record<WindowRing, number[]>
  before: Record<WindowRing, (number | null)[]>
}

/** `owner` is `p/<id>` for a pair, `t/<id>` for a token. */
export function windowsImage(owner: string, windows: Windows, highNowS: number, finalNowS: number): StateChange[] {
  const changes: StateChange[] = []
  for (const name of RING_NAMES) ringImage(owner, name, windows[name], changes)
  walletsImage(owner, windows, highNowS, finalNowS, changes)
  const fields: StoredWindows = {
    segments: windows.segments,
    chunks: perRing((name) => windows[name].chunks),
    before: perRing((name) => storedCloses(windows[name])),
  }
  changes.push({ key: `v/${owner}`, value: pack(fields) })
  return changes
}

/** Deletions of everything stored for windows that no longer exist. */
export function windowsErased(owner: string, store: StateStore): StateChange[] {
  const keys = [`v/${owner}`]
  for (const prefix of [`b/${owner}/`, `w/${owner}/`]) for (const { key } of store.entries(prefix)) keys.push(key)
  return keys.map((key) => ({ key, value: null }))
}

export function loadWindows(owner: string, windows: Windows, names: WalletNames, store: StateStore): boolean {
  const kept = store.get(`v/${owner}`)
  if (kept === undefined) return false
  const { fields } = unpack<StoredWindows>(kept)
  for (const name of RING_NAMES) {
    const ring = windows[name]
    restoreBefore(ring, fields.before[name])
    ring.chunks = fields.chunks[name]
    loadChunks(owner, name, ring, store)
  }
  windows.segments = fields.segments
  for (const segment of fields.segments) {
    const packed = store.get(`w/${owner}/${padded(segment)}`)
    if (packed === undefined) continue
    const { fields: wallets, numbers } = unpack<string[]>(packed)
    windows.segmentWallets.clear()
    for (const [n, wallet] of wallets.entries()) {
      windows.segmentWallets.add(wallet)
      windows.wallets.set(names.idOf(wallet), numbers[n * 2] as number, numbers[n * 2 + 1] as number)
    }
  }
  return true
}

export function loadChunks(owner: string, name: RingName, ring: BucketRing, store: StateStore): void {
  for (const chunk of ring.chunks) {
    const rows = store.get(`b/${owner}/${name}/${padded(chunk)}`)
    if (rows !== undefined) ring.append(unpack(rows).numbers)
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
    changes.push({ key: `b/${owner}/${name}/${padded(chunk)}`, value: pack(null, ring.rows(index, end)) })
    kept.push(chunk)
    index = end
  }
  const stay = new Set(kept)
  for (const chunk of ring.chunks) {
    if (!stay.has(chunk)) changes.push({ key: `b/${owner}/${name}/${padded(chunk)}`, value: null })
  }
  ring.chunks = kept
  ring.changedFrom = Number.POSITIVE_INFINITY
}

/** A segment holds every wallet entry that changed while it was the newest; loaded in order, the last one counts. */
function walletsImage(
  owner: string,
  windows: Windows,
  highNowS: number,
  finalNowS: number,
  changes: StateChange[],
): void {
  const segment = Math.floor(highNowS / SEGMENT_S)
  const oldest = Math.floor((finalNowS - WALLET_REACH_S) / SEGMENT_S)
  for (const old of windows.segments.filter((one) => one < oldest)) {
    changes.push({ key: `w/${owner}/${padded(old)}`, value: null })
  }
  windows.segments = windows.segments.filter((one) => one >= oldest)
  if (windows.changedWallets.size === 0) return
  if (windows.segments.at(-1) !== segment) {
    windows.segments.push(segment)
    windows.segmentWallets.clear()
  }
  for (const wallet of windows.changedWallets) windows.segmentWallets.add(wallet)
  windows.changedWallets.clear()
  const wallets = [...windows.segmentWallets]
  const times = new Float64Array(wallets.length * 2)
  for (const [n, wallet] of wallets.entries()) times.set(windows.lastTrades(wallet), n * 2)
  changes.push({ key: `w/${owner}/${padded(segment)}`, value: pack(wallets, times) })
}

export function storedCloses(ring: BucketRing): (number | null)[] {
  return ring.before.map((close) => (Number.isNaN(close) ? null : close))
}

export function restoreBefore(ring: BucketRing, closes: (number | null)[]): void {
  for (let c = 0; c < 3; c += 1) ring.before[c] = closes[c] ?? Number.NaN
}

function perRing<T>(make: (name: WindowRing) => T): Record<WindowRing, T> {
  return { minutes: make('minutes'), hours: make('hours') }
}
