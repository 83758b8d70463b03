import { FIRST_CLOSING, type Place } from './cursor.js'
import { WHOLE_CHAIN } from './params.js'
import { addressesOf } from './update-addresses.js'
import type { UpdateSnapshot } from './update-snapshot.js'

export type RingLimits = { ringSeconds: number; ringBytes: number }

/** The last minutes of one chain's updates, for replaying their pushes. Kept without gaps. */
export interface ReplayRing {
  /** False if the update does not follow the kept ones, which are dropped. */
  push(update: UpdateSnapshot): boolean
  /** Drops everything. */
  clear(): void
  /** Drops the updates up to a seq. */
  dropThrough(seq: number): void
  /** After the last push, kept or dropped; undefined before the first. */
  head(): Place | undefined
  /** Before the first kept push. */
  floor(): Place | undefined
  /** The first kept update with pushes after a place; undefined at the head. */
  after(place: Place): UpdateSnapshot | undefined
  /** As `after`, but the first that concerns one of these addresses (`*`: any). */
  afterConcerning(place: Place, addresses: readonly string[]): UpdateSnapshot | undefined
  /** The kept update with this seq. */
  get(seq: number): UpdateSnapshot | undefined
  /** Whether every push after a place is kept. */
  reaches(place: Place): boolean
  /** A chain time at or before an update, if known. */
  timeBefore(place: Place): number | undefined
  oldestTimeS(): number | undefined
  readonly bytes: number
}

/** Resolution and number of remembered times of dropped updates. */
const MARK_EVERY_S = 60
const MAX_MARKS = 1440

export function createReplayRing({ ringSeconds, ringBytes }: RingLimits): ReplayRing {
  let kept: (UpdateSnapshot | undefined)[] = []
  /** Entries before this index are empty; the array is shortened from time to time. */
  let first = 0
  let bytes = 0
  /** The place before the first kept update; `n` is 0 if its number of pushes is unknown. */
  let floor: Place | undefined
  /** By address: the seqs of kept updates that concern it. Made when it is first needed: most servers resume rarely. */
  let seqsOf: Map<string, number[]> | undefined
  let marks: { epoch: number; seq: number; timeS: number }[] = []

  const newest = (): UpdateSnapshot | undefined => (kept.length > first ? kept.at(-1) : undefined)

  function head(): Place | undefined {
    const last = newest()
    return last === undefined ? floor : endOf(last)
  }

  function clear(): void {
    kept = []
    first = 0
    bytes = 0
    floor = undefined
    seqsOf = undefined
  }

  function note(index: Map<string, number[]>, update: UpdateSnapshot): void {
    for (const address of addressesOf(update)) {
      const seqs = index.get(address)
      if (seqs === undefined) index.set(address, [update.seq])
      else seqs.push(update.seq)
    }
  }

  function forget(index: Map<string, number[]>, update: UpdateSnapshot): void {
    for (const address of addressesOf(update)) {
      const seqs = index.get(address)
      seqs?.shift()
      if (seqs?.length === 0) index.delete(address)
    }
  }

  function indexed(): Map<string, number[]> {
    if (seqsOf !== undefined) return seqsOf
    seqsOf = new Map()
    for (const update of kept) if (update !== undefined) note(seqsOf, update)
    return seqsOf
  }

  function get(seq: number): UpdateSnapshot | undefined {
    const oldest = kept[first]
    return oldest === undefined || seq < oldest.seq ? undefined : kept[first + seq - oldest.seq]
  }

  function after(place: Place): UpdateSnapshot | undefined {
    const oldest = kept[first]
    if (oldest === undefined) return undefined
    const at = kept[first + Math.max(0, place.seq - oldest.seq)]
    if (at === undefined || at.seq > place.seq || at.lastN > place.n) return at
    return kept[first + place.seq - oldest.seq + 1]
  }

  function drop(oldest: UpdateSnapshot): void {
    floor = endOf(oldest)
    bytes -= oldest.bytes
    if (seqsOf !== undefined) forget(seqsOf, oldest)
    kept[first] = undefined
    first += 1
  }

  function trim(nowS: number): void {
    for (let oldest = kept[first]; oldest !== undefined; oldest = kept[first]) {
      if (oldest === newest() || (bytes <= ringBytes && oldest.nowS > nowS - ringSeconds)) break
      drop(oldest)
    }
    if (first > 1024 && first * 2 > kept.length) {
      kept = kept.slice(first)
      first = 0
    }
  }

  function mark({ epoch, seq, nowS }: UpdateSnapshot): void {
    const last = marks.at(-1)
    if (last?.epoch === epoch && nowS < last.timeS + MARK_EVERY_S) return
    marks.push({ epoch, seq, timeS: nowS })
    if (marks.length > MAX_MARKS) marks = marks.slice(-MAX_MARKS / 2)
  }

  return {
    push(update) {
      const before = head()
      const follows = before !== undefined && update.epoch === before.epoch && update.seq === before.seq + 1
      if (!follows) {
        clear()
        floor = { epoch: update.epoch, chain: update.chain, seq: update.seq - 1, n: 0 }
      }
      kept.push(update)
      if (seqsOf !== undefined) note(seqsOf, update)
      bytes += update.bytes
      mark(update)
      trim(update.nowS)
      return follows || before === undefined
    },
    clear,
    dropThrough(seq) {
      for (let oldest = kept[first]; oldest !== undefined && oldest.seq <= seq; oldest = kept[first]) drop(oldest)
    },
    head,
    floor: () => floor,
    after,
    afterConcerning(place, addresses) {
      const next = after(place)
      if (next === undefined || addresses.includes(WHOLE_CHAIN)) return next
      let found = Number.POSITIVE_INFINITY
      for (const address of addresses) found = Math.min(found, firstFrom(indexed().get(address) ?? [], next.seq))
      return get(found)
    },
    get,
    reaches(place) {
      const last = head()
      if (floor === undefined || last === undefined || place.epoch !== last.epoch) return false
      if (place.seq > last.seq || (place.seq === last.seq && place.n > last.n)) return false
      if (place.seq > floor.seq) return true
      // For the update before the ring, the place must be after its last push.
      const isBehindAll = floor.n === 0 ? place.n === 0 || place.n >= FIRST_CLOSING : place.n >= floor.n
      return place.seq === floor.seq && isBehindAll
    },
    timeBefore({ epoch, seq }) {
      return marks.findLast((one) => one.epoch === epoch && one.seq <= seq)?.timeS
    },
    oldestTimeS: () => kept[first]?.timeS,
    get bytes() {
      return bytes
    },
  }
}

/** The first of ascending numbers at or above a number; infinite if there is none. */
function firstFrom(seqs: readonly number[], from: number): number {
  let [low, high] = [0, seqs.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((seqs[middle] ?? 0) < from) low = middle + 1
    else high = middle
  }
  return seqs[low] ?? Number.POSITIVE_INFINITY
}

function endOf({ epoch, chain, seq, lastN }: UpdateSnapshot): Place {
  return { epoch, chain, seq, n: lastN }
}
