import type { PushSocket } from './transport/push-transport.js'

/** Texts for one socket, sent together: each write of its own would cost more than the text. */
export interface Outbox {
  readonly socket: PushSocket
  add(text: string): void
  flush(): void
  /** The socket has so much unread that it gets nothing more for now. */
  isFull(): boolean
}

export interface Outboxes {
  of(socket: PushSocket): Outbox
  /** Must end each turn: a socket may be closed before the next one. */
  flush(): void
}

/** Held in memory before they are sent. */
const MAX_HELD_CHARS = 65_536

/** `pauseBytes`: unsent bytes of a full socket. */
export function createOutboxes(pauseBytes: number): Outboxes {
  const bySocket = new WeakMap<PushSocket, Outbox>()
  const filled = new Set<Outbox>()

  function open(socket: PushSocket): Outbox {
    let texts: string[] = []
    let chars = 0
    /** Characters that may be added; 0 if the unsent bytes must be counted first. */
    let room = 0
    const outbox: Outbox = {
      socket,
      add(text) {
        if (texts.length === 0) filled.add(outbox)
        texts.push(text)
        chars += text.length
        room -= text.length
        if (chars >= MAX_HELD_CHARS) outbox.flush()
      },
      flush() {
        if (texts.length === 0) return
        const sent = texts
        texts = []
        chars = 0
        room = 0
        filled.delete(outbox)
        socket.cork(() => {
          for (const text of sent) socket.send(text)
        })
      },
      isFull() {
        if (room > 0) return false
        outbox.flush()
        room = pauseBytes - socket.getBufferedAmount()
        return room <= 0
      },
    }
    return outbox
  }

  return {
    of(socket) {
      const known = bySocket.get(socket)
      if (known !== undefined) return known
      const outbox = open(socket)
      bySocket.set(socket, outbox)
      return outbox
    },
    flush() {
      for (const outbox of filled) outbox.flush()
    },
  }
}
