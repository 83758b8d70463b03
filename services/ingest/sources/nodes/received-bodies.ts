/**
 * Buffers in which responses are assembled. They are reused: history is hundreds of megabytes of responses, each read
 * once, and garbage collection of them would pause the process.
 */

export interface ReceivedBody {
  add(chunk: Buffer): void
  readonly size: number
  /** The bytes so far; valid until released. */
  readonly bytes: Buffer
  release(): void
}

const FIRST_BYTES = 64 * 1024
/** Larger buffers are not reused, nor more than this many. */
const LARGEST_KEPT = 4 * 1024 * 1024
const MOST_KEPT = 8

/** `likely`: the announced size. */
export function createBodies(): { open(likely: number): ReceivedBody } {
  const spare: Buffer[] = []
  return {
    open(likely) {
      const fitting = spare.findIndex(({ length }) => length >= likely)
      const [kept] = fitting < 0 ? [] : spare.splice(fitting, 1)
      let room = kept ?? roomFor(likely)
      let size = 0
      return {
        add(chunk) {
          if (room === undefined) return
          if (size + chunk.length > room.length) {
            const larger = Buffer.allocUnsafeSlow(2 * (size + chunk.length))
            room.copy(larger, 0, 0, size)
            room = larger
          }
          chunk.copy(room, size)
          size += chunk.length
        },
        get size() {
          return size
        },
        get bytes() {
          return room === undefined ? Buffer.alloc(0) : room.subarray(0, size)
        },
        release() {
          const free = room
          room = undefined
          if (free === undefined || free.length > LARGEST_KEPT) return
          spare.push(free)
          // Sorted by size: the first that fits is the best fit, and the smallest is dropped.
          spare.sort((one, other) => one.length - other.length)
          if (spare.length > MOST_KEPT) spare.shift()
        },
      }
    },
  }
}

function roomFor(bytes: number): Buffer | undefined {
  return Buffer.allocUnsafeSlow(Math.min(LARGEST_KEPT, Math.max(FIRST_BYTES, bytes)))
}
