import { createChannelIndex } from './channel-index.js'
import { FIRST_CLOSING, type Place } from './cursor.js'
import { encodeUpdate } from './encode-update.js'
import type { ReplayRing } from './replay-ring.js'
import type { Publisher } from './topic.js'
import { addressesOf } from './update-addresses.js'
import type { UpdateSnapshot } from './update-snapshot.js'

/** A subscription that misses pushes of one chain. */
export interface SweepReader {
  readonly channels: readonly string[]
  /** Everything up to here was sent, or is not wanted. */
  place: Place
  /** The last push sent. */
  sent: Place | undefined
  /** It may have some pushes of the update being replayed. */
  isNew: boolean
}

export type SweepDeps<Reader> = {
  ring: ReplayRing
  nowMs: () => number
  /** Sends the end of a push, after its id. False if the reader takes no more now: it is released and needs this push next. */
  send(reader: Reader, end: Uint8Array): boolean
  /** Gets each reader whose `place` is the newest or no longer kept, or that takes no more. */
  release(reader: Reader): void
}

/** Replays the kept updates of one chain to all subscriptions that miss some. */
export interface ReplaySweep<Reader> {
  /** `seq`: the first kept update that concerns it. */
  join(reader: Reader, seq: number): void
  /** Does some of the work. False if there is none. */
  step(): boolean
}

/** Readers released, or admitted, in one step: live pushes go out between steps. */
const RELEASED_PER_STEP = 64
const ADMITTED_PER_STEP = 256

/**
 * Moves through the kept updates from the oldest that a reader needs to the newest, like a lift: readers join when it passes
 * their place, and those behind it wait for its next round. So a push is encoded once for all who are in the same round.
 */
export function createReplaySweep<Reader extends SweepReader>(deps: SweepDeps<Reader>): ReplaySweep<Reader> {
  const { ring, nowMs, send, release } = deps
  const index = createChannelIndex<Reader>()
  /** In this round; they have everything up to `done`, and what they were sent of the update being replayed. */
  const active = new Set<Reader>()
  /** By the seq of the next update they need. */
  const waiting = new Map<number, Reader[]>()
  /** Admitted to the update that is replayed next. */
  let joined: Reader[] = []
  let next = 0
  let done: Place | undefined

  function leave(reader: Reader): void {
    active.delete(reader)
    index.remove(reader, reader.channels)
    reader.place = later(later(reader.place, done), reader.sent)
    release(reader)
  }

  /** Those whose updates were dropped while they waited start again. */
  function admit(readers: readonly Reader[]): void {
    for (const reader of readers) {
      if (!ring.reaches(reader.place)) {
        release(reader)
        continue
      }
      active.add(reader)
      joined.push(reader)
      index.add(reader, reader.channels)
    }
  }

  function replay(update: UpdateSnapshot): void {
    if (!index.namesAny(addressesOf(update))) return
    const out: Publisher = {
      ...{ isWanted: index.isWanted, concerns: index.concerns },
      publish(channels, push) {
        const { epoch, chain } = update
        const end = pushEnd(push.result, push.sentTime ? nowMs : undefined)
        const at = { epoch, chain, seq: push.n >= FIRST_CLOSING ? update.seq - 1 : update.seq, n: push.n }
        for (const reader of index.membersOf(channels)) {
          if (reader.isNew && !isBehind(reader.place, at)) continue
          if (send(reader, end)) reader.sent = at
          else leave(reader)
        }
      },
    }
    encodeUpdate(update, out)
  }

  function releaseSome(): void {
    let left = RELEASED_PER_STEP
    for (const reader of active) {
      if (left-- === 0) return
      leave(reader)
    }
  }

  return {
    join(reader, seq) {
      // Nothing before that update concerns it, so nothing is missing if those updates are dropped.
      reader.place = later(reader.place, endOf(ring.get(seq - 1)))
      const readers = waiting.get(seq)
      if (readers === undefined) waiting.set(seq, [reader])
      else readers.push(reader)
    },

    step() {
      if (active.size === 0) {
        const found = lowestFrom(waiting.keys(), next)
        if (found === undefined) return false
        next = found
        done = undefined
      }
      if (done !== undefined && !ring.reaches(done)) {
        releaseSome()
        return true
      }
      const joining = waiting.get(next)
      if (joining !== undefined) {
        if (joining.length <= ADMITTED_PER_STEP) waiting.delete(next)
        admit(joining.splice(0, ADMITTED_PER_STEP))
        if (waiting.has(next)) return true
      }
      if (active.size === 0) return true
      const update = ring.get(next)
      if (update === undefined) {
        releaseSome()
        return true
      }
      replay(update)
      for (const reader of joined) reader.isNew = false
      joined = []
      done = endOf(update)
      next = update.seq + 1
      return true
    },
  }
}

/** The lowest of those at or above a number, else the lowest of all. */
function lowestFrom(seqs: Iterable<number>, from: number): number | undefined {
  let [above, lowest] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (const seq of seqs) {
    lowest = Math.min(lowest, seq)
    if (seq >= from) above = Math.min(above, seq)
  }
  const found = Number.isFinite(above) ? above : lowest
  return Number.isFinite(found) ? found : undefined
}

function endOf(update: UpdateSnapshot | undefined): Place | undefined {
  return update && { epoch: update.epoch, chain: update.chain, seq: update.seq, n: update.lastN }
}

/** A push after its id. */
export function pushEnd(result: string, nowMs: (() => number) | undefined): Uint8Array {
  return Buffer.from(nowMs === undefined ? `${result}}` : `${result},"sent_time":${nowMs()}}`)
}

function isBehind(place: Place, at: Place): boolean {
  return at.seq > place.seq || (at.seq === place.seq && at.n > place.n)
}

function later(place: Place, other: Place | undefined): Place {
  return other !== undefined && isBehind(place, other) ? other : place
}
