import { cursorAt, FIRST_CLOSING, type Place } from './cursor.js'
import { encodeUpdate } from './encode-update.js'
import { gapNotices } from './gap-notices.js'
import type { Hub, Subscription } from './hub.js'
import { addressOf, WHOLE_CHAIN } from './params.js'
import type { PushFeed } from './push-feed.js'
import type { CatchUp, Session } from './session.js'
import type { Publisher } from './topic.js'
import type { PushSocket } from './transport/push-transport.js'
import { addressesOf } from './update-addresses.js'
import type { UpdateSnapshot } from './update-snapshot.js'

export type CatchUpDeps = {
  hub: Hub
  feed: PushFeed
  nowMs: () => number
  /** A socket with more unsent bytes than this gets no more until it has read. */
  pauseBytes: number
}

/** Updates scanned before other sockets get their turn. */
const UPDATES_PER_TURN = 256

/**
 * Sends a socket what its new subscriptions missed, up to its unread limit. A subscription that reaches the head goes live in
 * the same turn, so no push is lost in between. True: call again at once; otherwise catching up resumes when the socket drains.
 */
export function catchUpSocket(deps: CatchUpDeps, socket: PushSocket, session: Session): boolean {
  if (session.isSlow) return false
  let bytes = deps.pauseBytes - socket.getBufferedAmount()
  let updatesLeft = UPDATES_PER_TURN
  for (const one of [...session.catchingUp.values()]) {
    const replay = createReplay(deps, socket, one.subscription)
    for (const [index, place] of one.places.entries()) {
      let at = resolvePlace(deps, socket, one, place)
      for (;;) {
        one.places[index] = at
        const update = deps.feed.ringOf(at.chain).after(at)
        if (update === undefined) break
        if (bytes <= 0 || updatesLeft-- === 0) return socket.getBufferedAmount() < deps.pauseBytes
        const sent = replay(update, at, bytes)
        bytes -= sent.bytes
        at = sent.place
      }
    }
    goLive(deps, socket, session, one)
  }
  return false
}

/** The place itself if everything after it is kept; otherwise sends gap notices and resumes at the next possible place. */
function resolvePlace({ feed }: CatchUpDeps, socket: PushSocket, { subscription }: CatchUp, place: Place): Place {
  const ring = feed.ringOf(place.chain)
  const head = feed.headOf(place.chain)
  if (ring.reaches(place) || cursorAt(place) === cursorAt(head)) return place
  const floor = ring.floor()
  const to = floor === undefined || isAhead(place, head) ? head : floor
  const fromS = to === head ? undefined : ring.timeBefore(place)
  const toS = to === head ? undefined : ring.oldestTimeS()
  for (const text of gapNotices(subscription, { from: place, to, fromS, toS })) socket.send(text)
  return to
}

/** The cursor is from another history: this server never made those pushes. */
function isAhead(place: Place, head: Place): boolean {
  if (place.epoch !== head.epoch) return place.epoch > head.epoch
  return place.seq > head.seq || (place.seq === head.seq && place.n > head.n)
}

/**
 * Replays updates to one subscription, encoded as the hub did, up to `maxBytes`. Returns the place reached.
 */
function createReplay({ nowMs }: CatchUpDeps, socket: PushSocket, { id, spec }: Subscription) {
  const wanted = new Set(spec.channels)
  const named = new Set(spec.channels.map(addressOf))
  const isWholeChain = named.has(WHOLE_CHAIN)
  const head = `{"id":${JSON.stringify(id)},"jsonrpc":"2.0","result":`
  return (update: UpdateSnapshot, from: Place, maxBytes: number): { place: Place; bytes: number } => {
    const end = { ...from, seq: update.seq, n: update.lastN }
    if (!isWholeChain && !isConcerned(update, named)) return { place: end, bytes: 0 }
    let bytes = 0
    let place = from
    let isCut = false
    const out: Publisher = {
      isWanted: (channel) => wanted.has(channel),
      concerns: (...addresses) => isWholeChain || addresses.some((address) => named.has(address)),
      publish: (_channels, push) => {
        const at = { ...from, seq: push.n >= FIRST_CLOSING ? update.seq - 1 : update.seq, n: push.n }
        if (!isBehind(from, at)) return
        isCut ||= bytes >= maxBytes
        if (isCut) return
        const text = `${head}${push.result}${push.sentTime ? `,"sent_time":${nowMs()}}` : '}'}`
        socket.send(text)
        bytes += text.length
        place = at
      },
    }
    socket.cork(() => encodeUpdate(update, out))
    return { place: isCut ? place : end, bytes }
  }
}

function isConcerned(update: UpdateSnapshot, named: ReadonlySet<string>): boolean {
  const addresses = addressesOf(update)
  for (const address of named) if (addresses.has(address)) return true
  return false
}

function isBehind(place: Place, at: Place): boolean {
  return at.seq > place.seq || (at.seq === place.seq && at.n > place.n)
}

function goLive({ hub, feed, nowMs }: CatchUpDeps, socket: PushSocket, session: Session, one: CatchUp): void {
  const { subscription, snapshot } = one
  session.catchingUp.delete(subscription)
  if (snapshot) {
    const results = subscription.spec.snapshot((chain) => cursorAt(feed.headOf(chain)))
    socket.cork(() => {
      for (const result of results) {
        const id = JSON.stringify(subscription.id)
        socket.send(`{"id":${id},"jsonrpc":"2.0","result":${result},"sent_time":${nowMs()}}`)
      }
    })
  }
  socket.subscribe(hub.add(subscription))
}
