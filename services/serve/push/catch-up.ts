import { cursorAt, type Place } from './cursor.js'
import { gapNotices } from './gap-notices.js'
import type { Hub } from './hub.js'
import { createOutboxes, type Outbox } from './outbox.js'
import { addressOf } from './params.js'
import { beginningOf } from './push-beginning.js'
import type { PushFeed } from './push-feed.js'
import { createReplaySweep, pushEnd, type ReplaySweep, type SweepReader } from './replay-sweep.js'
import { type CatchUp, endCatchUp, type Session } from './session.js'
import type { PushSocket } from './transport/push-transport.js'

export type CatchUpDeps = {
  hub: Hub
  feed: Pick<PushFeed, 'ringOf' | 'headOf'>
  nowMs: () => number
  /** A socket with more unsent bytes than this gets no more until it has read. */
  pauseBytes: number
  /** Live pushes wait no longer than this for replays. */
  turnMs?: number
  /** How long a client may be ahead of this node before that counts as a gap. */
  behindMs?: number
}

export interface CatchUps {
  /**
   * Sends a socket what its new subscriptions missed, up to its unread limit; call it again when the socket drains. A
   * subscription that reaches the head goes live in the same turn, so no push is lost in between.
   */
  start(socket: PushSocket, session: Receiver): void
  /** Continues those that were ahead of this node. Call it after each update of a chain. */
  moved(chain: string): void
  /** Sends what is held for a socket. Call it before a request is answered: nothing may follow an unsubscribe. */
  flush(socket: PushSocket, session: Receiver): void
}

const NO_END = new Uint8Array(0)
const TURN_MS = 5
const BEHIND_MS = 10_000

type Receiver = Pick<Session, 'catchingUp' | 'isSlow' | 'isClosed'>
type Reader = SweepReader & {
  outbox: Outbox
  session: Receiver
  catchUp: CatchUp
  placeIndex: number
  /** Of a push, up to its result. */
  beginning: Uint8Array
}
/** A subscription whose client comes from a node that was further. */
type Ahead = { outbox: Outbox; session: Receiver; catchUp: CatchUp; sinceMs: number }

export function createCatchUps(deps: CatchUpDeps): CatchUps {
  const { hub, feed, nowMs, turnMs = TURN_MS, behindMs = BEHIND_MS } = deps
  const sweeps = new Map<string, ReplaySweep<Reader>>()
  const ahead = new Map<CatchUp, Ahead>()
  let isWatchingAhead = false
  const outboxes = createOutboxes(deps.pauseBytes)
  /** With subscriptions that went live in this turn. */
  const live = new Set<Outbox>()
  let isScheduled = false

  function turn(): void {
    const endMs = performance.now() + turnMs
    let isMore: boolean
    do {
      isMore = false
      for (const sweep of sweeps.values()) isMore = sweep.step() || isMore
    } while (isMore && performance.now() < endMs)
    outboxes.flushAll(!isMore)
    flushLive()
    isScheduled = isMore
    if (isMore) setImmediate(turn)
  }

  function sweepOf(chain: string): ReplaySweep<Reader> {
    const known = sweeps.get(chain)
    if (known !== undefined) return known
    const sweep = createReplaySweep({ ring: feed.ringOf(chain), nowMs, send, release })
    sweeps.set(chain, sweep)
    return sweep
  }

  function send({ catchUp, outbox, beginning }: Reader, end: Uint8Array): boolean {
    if (catchUp.isEnded || outboxes.isFull(outbox)) return false
    outboxes.add(outbox, beginning, end)
    return true
  }

  function release({ session, catchUp, outbox, placeIndex, place }: Reader): void {
    if (catchUp.isEnded) return
    catchUp.places[placeIndex] = place
    if (outboxes.isFull(outbox)) catchUp.isReplaying = false
    else advance(outbox, session, catchUp)
  }

  /** Joins the sweep of the first chain that has more, or goes live. */
  function advance(outbox: Outbox, session: Receiver, catchUp: CatchUp): void {
    const { channels } = catchUp.subscription.spec
    for (const [placeIndex, place] of catchUp.places.entries()) {
      const ring = feed.ringOf(place.chain)
      const isKept = ring.reaches(place)
      if (isHeld(outbox, session, catchUp, place, isKept)) return
      const at = isKept ? place : resolvePlace(outbox, catchUp, place)
      catchUp.places[placeIndex] = at
      const next = ring.after(at) && ring.afterConcerning(at, channels.map(addressOf))
      if (next === undefined) continue
      catchUp.isReplaying = true
      const reader = {
        channels,
        place: at,
        sent: undefined,
        isNew: true,
        outbox,
        session,
        catchUp,
        placeIndex,
        beginning: beginningOf(catchUp.subscription.id),
      }
      sweepOf(at.chain).join(reader, next.seq)
      return
    }
    goLive(outbox, session, catchUp)
  }

  /** Another node pushed what this one has not read yet: it waits, so that nothing is pushed to the client twice. */
  function isHeld(outbox: Outbox, session: Receiver, catchUp: CatchUp, place: Place, isKept: boolean): boolean {
    const isBehind = !isKept && isAhead(place, feed.headOf(place.chain))
    const sinceMs = ahead.get(catchUp)?.sinceMs ?? (isBehind ? nowMs() : 0)
    if (!isBehind || nowMs() - sinceMs >= behindMs) {
      ahead.delete(catchUp)
      return false
    }
    catchUp.isReplaying = true
    ahead.set(catchUp, { outbox, session, catchUp, sinceMs })
    watchAhead()
    return true
  }

  function watchAhead(): void {
    if (isWatchingAhead) return
    isWatchingAhead = true
    setTimeout(() => {
      isWatchingAhead = false
      continueAhead(() => true)
    }, behindMs / 2).unref()
  }

  function continueAhead(concerns: (catchUp: CatchUp) => boolean): void {
    for (const { outbox, session, catchUp } of [...ahead.values()]) {
      if (catchUp.isEnded) ahead.delete(catchUp)
      else if (concerns(catchUp)) advance(outbox, session, catchUp)
    }
    if (ahead.size > 0) watchAhead()
    flushLive()
    if (!isScheduled) turn()
  }

  /** Of a place after which something is not kept: sends gap notices and resumes at the next possible place. */
  function resolvePlace(outbox: Outbox, { subscription }: CatchUp, place: Place): Place {
    const ring = feed.ringOf(place.chain)
    const head = feed.headOf(place.chain)
    if (cursorAt(place) === cursorAt(head)) return place
    const floor = ring.floor()
    const to = floor === undefined || isAhead(place, head) ? head : floor
    const fromS = to === head ? undefined : ring.timeBefore(place)
    const toS = to === head ? undefined : ring.oldestTimeS()
    for (const text of gapNotices(subscription, { from: place, to, fromS, toS }))
      outboxes.add(outbox, Buffer.from(text), NO_END)
    return to
  }

  function goLive(outbox: Outbox, session: Receiver, { subscription, snapshot }: CatchUp): void {
    endCatchUp(session, subscription)
    if (snapshot) {
      const beginning = beginningOf(subscription.id)
      for (const result of subscription.spec.snapshot((chain) => cursorAt(feed.headOf(chain))))
        outboxes.add(outbox, beginning, pushEnd(result, nowMs))
    }
    live.add(outbox)
    outbox.socket.subscribe(hub.add(subscription))
  }

  /** Live pushes may follow as soon as this turn ends: what was replayed before them goes first. */
  function flushLive(): void {
    for (const outbox of live) outboxes.flush(outbox)
    live.clear()
  }

  return {
    moved(chain) {
      if (ahead.size > 0) continueAhead(({ places }) => places.some((place) => place.chain === chain))
    },
    flush(socket, session) {
      if (session.catchingUp.size > 0) outboxes.flush(outboxes.of(socket, session))
    },
    start(socket, session) {
      if (session.isSlow || socket.getBufferedAmount() >= deps.pauseBytes) return
      const outbox = outboxes.of(socket, session)
      for (const catchUp of [...session.catchingUp.values()])
        if (!catchUp.isReplaying) advance(outbox, session, catchUp)
      outboxes.flush(outbox)
      flushLive()
      if (!isScheduled) turn()
    },
  }
}

/** Pushes that this node has not made: it is behind, or the cursor is from another history. */
function isAhead(place: Place, head: Place): boolean {
  if (place.epoch !== head.epoch) return place.epoch > head.epoch
  return place.seq > head.seq || (place.seq === head.seq && place.n > head.n)
}
