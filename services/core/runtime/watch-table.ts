/** Memory shared by the watched threads of a process and the watcher: one slot per thread. */

const SLOTS = 64
/** Ints before the name. */
const AT = { state: 0, ticks: 1, limitMs: 2, debugged: 3, nameBytes: 4, name: 5 } as const
const NAME_INTS = 15
const SLOT_INTS = AT.name + NAME_INTS
const INT_BYTES = 4

const FREE = 0
const CLAIMED = 1
/** Its name and limit are written. */
const READY = 2

export type WatchTable = SharedArrayBuffer

export function createWatchTable(): WatchTable {
  return new SharedArrayBuffer(SLOTS * SLOT_INTS * INT_BYTES)
}

export interface WatchSlot {
  /** The thread's event loop runs. */
  tick(isDebugged: boolean): void
  release(): void
}

/** Undefined if every slot is in use. */
export function claimSlot(table: WatchTable, name: string, limitMs: number): WatchSlot | undefined {
  const ints = new Int32Array(table)
  for (let start = 0; start < ints.length; start += SLOT_INTS) {
    if (Atomics.compareExchange(ints, start + AT.state, FREE, CLAIMED) !== FREE) continue
    const room = new Uint8Array(table, (start + AT.name) * INT_BYTES, NAME_INTS * INT_BYTES)
    // Encoders refuse shared memory.
    const bytes = new TextEncoder().encode(name).subarray(0, room.length)
    room.set(bytes)
    Atomics.store(ints, start + AT.nameBytes, bytes.length)
    Atomics.store(ints, start + AT.limitMs, limitMs)
    Atomics.store(ints, start + AT.debugged, 0)
    Atomics.store(ints, start + AT.state, READY)
    return {
      tick(isDebugged) {
        Atomics.store(ints, start + AT.debugged, isDebugged ? 1 : 0)
        Atomics.add(ints, start + AT.ticks, 1)
      },
      release: () => void Atomics.store(ints, start + AT.state, FREE),
    }
  }
  return undefined
}

/** Frees the slots of the thread with this name. */
export function releaseSlots(table: WatchTable, name: string): void {
  const ints = new Int32Array(table)
  for (const { slot, name: found } of watchedThreads(table)) {
    if (found === name) Atomics.store(ints, slot + AT.state, FREE)
  }
}

export type WatchedThread = { slot: number; name: string; ticks: number; limitMs: number; isDebugged: boolean }

export function watchedThreads(table: WatchTable): WatchedThread[] {
  const ints = new Int32Array(table)
  const threads: WatchedThread[] = []
  for (let start = 0; start < ints.length; start += SLOT_INTS) {
    if (Atomics.load(ints, start + AT.state) !== READY) continue
    const bytes = new Uint8Array(table, (start + AT.name) * INT_BYTES, Atomics.load(ints, start + AT.nameBytes))
    threads.push({
      slot: start,
      name: new TextDecoder().decode(Uint8Array.from(bytes)),
      ticks: Atomics.load(ints, start + AT.ticks),
      limitMs: Atomics.load(ints, start + AT.limitMs),
      isDebugged: Atomics.load(ints, start + AT.debugged) === 1,
    })
  }
  return threads
}
