/**
 * The bytes of one push, for groups that differ in its beginning only. The end is written once, and each beginning in front
 * of it: another request id costs a few bytes, not another text.
 */
export interface PushBytes {
  setEnd(result: string, rest: string): void
  /** A view that is valid until the next call. */
  startingWith(beginning: Uint8Array): Uint8Array
}

/** UTF-8 takes at most three bytes for each unit of a JavaScript string. */
const BYTES_PER_UNIT = 3
const FIRST_BYTES = 16_384
/** Enough for most request ids. */
const FIRST_ROOM = 256

export function createPushBytes(): PushBytes {
  let room = FIRST_ROOM
  let buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  let endAt = room
  /** What is in front of the end: most pushes have the beginning of the one before. */
  let inFront: Uint8Array | undefined
  /** From there to the end: most beginnings are as long as the one before. */
  let view: Uint8Array | undefined

  /** Keeps the end that is written. */
  function makeRoom(bytes: number): void {
    const end = Buffer.from(buffer.subarray(room, endAt))
    room = bytes
    buffer = Buffer.allocUnsafeSlow(room + Math.max(FIRST_BYTES, end.length))
    endAt = room + end.copy(buffer, room)
    inFront = undefined
    view = undefined
  }

  return {
    setEnd(result, rest) {
      const most = room + (result.length + rest.length) * BYTES_PER_UNIT
      if (most > buffer.length) {
        buffer = Buffer.allocUnsafeSlow(most)
        inFront = undefined
      }
      view = undefined
      endAt = room + buffer.write(result + rest, room)
    },
    startingWith(beginning) {
      if (beginning.length > room) makeRoom(beginning.length)
      const startAt = room - beginning.length
      if (inFront !== beginning) buffer.set(beginning, startAt)
      inFront = beginning
      if (view?.length !== endAt - startAt) view = buffer.subarray(startAt, endAt)
      return view
    },
  }
}
