import type { PushSocket } from './transport/push-transport.js'

/** Messages for one socket, sent together: each in a write of its own would cost more than the message. */
export type Outbox = {
  readonly socket: PushSocket
  readonly session: Receiver
  /** Two for each message: its beginning, and its end, which all sockets that get it share. */
  parts: Uint8Array[]
  /** Of all parts, approximately. */
  bytes: number
  /** Bytes that may be added; 0 if the unsent ones must be counted first. */
  room: number
}

type Receiver = { readonly isSlow: boolean; readonly isClosed: boolean }

export interface Outboxes {
  of(socket: PushSocket, session: Receiver): Outbox
  add(outbox: Outbox, beginning: Uint8Array, end: Uint8Array): void
  /** The socket has so much unread that it gets nothing more for now. */
  isFull(outbox: Outbox): boolean
  flush(outbox: Outbox): void
  /** Sends what is worth a write, or everything. */
  flushAll(isEverything: boolean): void
}

const FIRST_BYTES = 16_384
/** What uWebSockets.js writes at once. */
const WRITE_BYTES = 16_384

/** `pauseBytes`: unsent bytes of a full socket. */
export function createOutboxes(pauseBytes: number): Outboxes {
  const bySocket = new WeakMap<PushSocket, Outbox>()
  const filled = new Set<Outbox>()
  let scratch = new Uint8Array(FIRST_BYTES)

  /** Valid until the next call. */
  function join(beginning: Uint8Array, end: Uint8Array): Uint8Array {
    const bytes = beginning.length + end.length
    if (bytes > scratch.length) scratch = new Uint8Array(bytes)
    scratch.set(beginning)
    scratch.set(end, beginning.length)
    return new Uint8Array(scratch.buffer, 0, bytes)
  }

  /** A closed socket gets nothing. */
  function flush(outbox: Outbox): void {
    const { socket, session, parts } = outbox
    if (parts.length === 0) return
    const sendParts = () => {
      for (let at = 0; at + 1 < parts.length; at += 2)
        socket.send(join(parts[at] as Uint8Array, parts[at + 1] as Uint8Array))
    }
    if (!session.isClosed) socket.cork(sendParts)
    outbox.parts = []
    outbox.bytes = 0
    outbox.room = 0
    filled.delete(outbox)
  }

  return {
    of(socket, session) {
      const known = bySocket.get(socket)
      if (known !== undefined) return known
      const outbox: Outbox = { socket, session, parts: [], bytes: 0, room: 0 }
      bySocket.set(socket, outbox)
      return outbox
    },
    add(outbox, beginning, end) {
      if (outbox.parts.length === 0) filled.add(outbox)
      outbox.parts.push(beginning, end)
      const bytes = beginning.length + end.length
      outbox.bytes += bytes
      outbox.room -= bytes
    },
    isFull(outbox) {
      if (outbox.room > 0) return false
      flush(outbox)
      outbox.room = outbox.session.isSlow ? 0 : pauseBytes - outbox.socket.getBufferedAmount()
      return outbox.room <= 0
    },
    flush,
    flushAll(isEverything) {
      for (const outbox of filled) if (isEverything || outbox.bytes >= WRITE_BYTES) flush(outbox)
    },
  }
}
