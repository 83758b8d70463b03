import { cursorAt, type Place } from './cursor.js'
import { gapNotices } from './gap-notices.js'
import type { Hub } from './hub.js'
import { createOutboxes, type Outbox } from './outbox.js'
import type { PushFeed } from './push-feed.js'
import { createReplaySweep, type ReplaySweep, type SweepReader } from './replay-sweep.js'
import type { CatchUp, Session } from './session.js'
import type { Push } from './topic.js'
import type { PushSocket } from './transport/push-transport.js'

export type CatchUpDeps = {
  hub: Hub
  feed: PushFeed
  nowMs: () => number
  /** A socket with more unsent bytes than this gets no more until it has read. */
  pauseBytes: number
}

export interface CatchUps {
  /**
   * Sends a socket what its new subscriptions missed, up to its unread limit; call it again when the socket drains. A
   * subscription that reaches the head goes live in the same turn, so no push is lost in between.
   */
  start(socket: PushSocket, session: Session): void
}

/** Live pushes wait no longer than this for replays. */
const TURN_MS = 5

type Reader = SweepReader & { outbox: Outbox; session: Session; catchUp: CatchUp; placeIndex: number }

export function createCatchUps(deps: CatchUpDeps): CatchUps {
  const { hub, feed, nowMs } = deps
  const sweeps = new Map<string, ReplaySweep>()
  const outboxes = createOutboxes(deps.pauseBytes)
  let isScheduled = false

  function turn(): void {
    const endMs = performance.now() + TURN_MS
    let isMore = true
    while (isMore && performance.now() < endMs) {
      isMore = false
      for (const sweep of sweeps.values()) isMore = sweep.step() || isMore
    }
    outboxes.flush()
    isScheduled = isMore
    if (isMore) setImmediate(turn)
  }

  function sweepOf(chain: string): ReplaySweep {
    const known = sweeps.get(chain)
    if (known !== undefined) return known
    const sweep = createReplaySweep(feed.ringOf(chain), (reader) => onReleased(reader as Reader))
    sweeps.set(chain, sweep)
    return sweep
  }

  const isEnded = ({ session, catchUp }: Omit<Reader, keyof SweepReader>): boolean =>
    session.catchingUp.get(catchUp.subscription) !== catchUp

  function onReleased(reader: Reader): void {
    if (isEnded(reader)) return
    const { session, catchUp, outbox } = reader
    catchUp.places[reader.placeIndex] = reader.place
    if (session.isSlow || outbox.isFull()) catchUp.isReplaying = false
    else advance(outbox, session, catchUp)
  }

  /** Joins the sweep of the first chain that has more, or goes live. */
  function advance(outbox: Outbox, session: Session, catchUp: CatchUp): void {
    for (const [placeIndex, place] of catchUp.places.entries()) {
      const at = resolvePlace(outbox, catchUp, place)
      catchUp.places[placeIndex] = at
      if (feed.ringOf(at.chain).after(at) === undefined) continue
      catchUp.isReplaying = true
      sweepOf(at.chain).join(readerOf(outbox, session, catchUp, placeIndex, at))
      if (!isScheduled) setImmediate(turn)
      isScheduled = true
      return
    }
    goLive(outbox, session, catchUp)
  }

  function readerOf(outbox: Outbox, session: Session, catchUp: CatchUp, placeIndex: number, place: Place): Reader {
    const { id, spec } = catchUp.subscription
    const head = `{"id":${JSON.stringify(id)},"jsonrpc":"2.0","result":`
    const reader = {
      ...{ outbox, session, catchUp, placeIndex, place, channels: spec.channels },
      send({ result, sentTime }: Push) {
        if (isEnded(reader) || session.isSlow || outbox.isFull()) return false
        outbox.add(`${head}${result}${sentTime ? `,"sent_time":${nowMs()}}` : '}'}`)
        return true
      },
    }
    return reader
  }

  /** The place itself if everything after it is kept; otherwise sends gap notices and resumes at the next possible place. */
  function resolvePlace(outbox: Outbox, { subscription }: CatchUp, place: Place): Place {
    const ring = feed.ringOf(place.chain)
    const head = feed.headOf(place.chain)
    if (ring.reaches(place) || cursorAt(place) === cursorAt(head)) return place
    const floor = ring.floor()
    const to = floor === undefined || isAhead(place, head) ? head : floor
    const fromS = to === head ? undefined : ring.timeBefore(place)
    const toS = to === head ? undefined : ring.oldestTimeS()
    for (const text of gapNotices(subscription, { from: place, to, fromS, toS })) outbox.add(text)
    return to
  }

  function goLive(outbox: Outbox, session: Session, { subscription, snapshot }: CatchUp): void {
    session.catchingUp.delete(subscription)
    if (snapshot) {
      const id = JSON.stringify(subscription.id)
      for (const result of subscription.spec.snapshot((chain) => cursorAt(feed.headOf(chain))))
        outbox.add(`{"id":${id},"jsonrpc":"2.0","result":${result},"sent_time":${nowMs()}}`)
    }
    outbox.flush()
    outbox.socket.subscribe(hub.add(subscription))
  }

  return {
    start(socket, session) {
      if (session.isSlow || socket.getBufferedAmount() >= deps.pauseBytes) return
      const outbox = outboxes.of(socket)
      for (const catchUp of [...session.catchingUp.values()])
        if (!catchUp.isReplaying) advance(outbox, session, catchUp)
      outbox.flush()
    },
  }
}

/** The cursor is from another history: this server never made those pushes. */
function isAhead(place: Place, head: Place): boolean {
  if (place.epoch !== head.epoch) return place.epoch > head.epoch
  return place.seq > head.seq || (place.seq === head.seq && place.n > head.n)
}
