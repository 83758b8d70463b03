import { FIRST_CLOSING, type Place } from './cursor.js'
import type { UpdateSnapshot } from './update-snapshot.js'

export type RingLimits = { ringSeconds: number; ringBytes: number }

/** The last minutes of one chain's pushes, each ready to be made again. Moments follow each other without a hole. */
export interface ReplayRing {
  /** False where it does not follow what is kept: that is forgotten. */
  push(update: UpdateSnapshot): boolean
  /** Forgets all. */
  clear(): void
  /** Behind the last push; undefined before anything is known. */
  head(): Place | undefined
  /** Before the first push that is kept. */
  floor(): Place | undefined
  /** The first kept update with pushes behind a place; undefined at the head. */
  after(place: Place): UpdateSnapshot | undefined
  /** Whether everything behind a place is kept. */
  reaches(place: Place): boolean
  /** A chain time not after that of an update, where one is remembered. */
  timeBefore(place: Place): number | undefined
  oldestTimeS(): number | undefined
  readonly bytes: number
}

/** How finely, and how long, times of updates that are no longer kept are remembered. */
const MARK_EVERY_S = 60
const MAX_MARKS = 1440

export function createReplayRing({ ringSeconds, ringBytes }: RingLimits): ReplayRing {
  let kept: UpdateSnapshot[] = []
  /** Moments before this index are let go; the array is cut now and then. */
  let first = 0
  let bytes = 0
  /** The place before the first kept; `n` 0 where it is not known how many pushes its update made. */
  let floor: Place | undefined
  let marks: { epoch: number; seq: number; timeS: number }[] = []

  const newest = (): UpdateSnapshot | undefined => (kept.length > first ? kept.at(-1) : undefined)

  function clear(): void {
    kept = []
    first = 0
    bytes = 0
    floor = undefined
  }

  function trim(nowS: number): void {
    for (let oldest = kept[first]; oldest !== undefined; oldest = kept[first]) {
      if (oldest === newest() || (bytes <= ringBytes && oldest.nowS > nowS - ringSeconds)) break
      floor = endOf(oldest)
      bytes -= oldest.bytes
      first += 1
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
      const last = newest()
      const follows = last !== undefined && update.epoch === last.epoch && update.seq === last.seq + 1
      if (!follows) {
        clear()
        floor = { epoch: update.epoch, chain: update.chain, seq: update.seq - 1, n: 0 }
      }
      kept.push(update)
      bytes += update.bytes
      mark(update)
      trim(update.nowS)
      return follows || last === undefined
    },
    clear,
    head: () => {
      const last = newest()
      return last === undefined ? undefined : endOf(last)
    },
    floor: () => floor,
    after(place) {
      const oldest = kept[first]
      if (oldest === undefined) return undefined
      const at = kept[first + Math.max(0, place.seq - oldest.seq)]
      if (at === undefined || at.seq > place.seq || at.lastN > place.n) return at
      return kept[first + place.seq - oldest.seq + 1]
    },
    reaches(place) {
      const last = newest()
      if (floor === undefined || last === undefined || place.epoch !== last.epoch) return false
      if (place.seq > last.seq || (place.seq === last.seq && place.n > last.lastN)) return false
      if (place.seq > floor.seq) return true
      // Of an update before the ring it must be known that nothing of its own came after the place.
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

function endOf({ epoch, chain, seq, lastN }: UpdateSnapshot): Place {
  return { epoch, chain, seq, n: lastN }
}
