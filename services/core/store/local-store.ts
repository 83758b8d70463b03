/** The store of a data directory: through the socket of the process that has it open, or an engine in this process. */
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore, type StoreOptions } from './clickhouse-store.js'
import { holderOf } from './embedded-engine.js'
import { appendServed, type EngineOwner, isEngineServed } from './engine-socket.js'
import type { Store } from './port.js'

/** A Unix socket's path may have at least 104 bytes (macOS), and ours is created in a folder with a longer name. */
const LONGEST_SOCKET_PATH = 90
const STARTING_TRIES = 10
const STARTING_WAIT_MS = 300

export function enginePathOf(dataDir: string): string {
  return join(resolve(dataDir), 'store')
}

export function socketPathOf(dataDir: string): string {
  const path = join(resolve(dataDir), 'engine.sock')
  if (Buffer.byteLength(path) <= LONGEST_SOCKET_PATH) return path
  return join(tmpdir(), `dextape-${createHash('sha256').update(path).digest('hex').slice(0, 24)}.sock`)
}

/** Appends to the log of a data directory through the process that has its store open. */
export function appendToUp(dataDir: string): EngineOwner['append'] {
  return (topic, entries) => appendServed(socketPathOf(dataDir), topic, entries)
}

export async function openLocalStore(
  dataDir: string,
  options: StoreOptions & { database?: string; isBackground?: boolean } = {},
): Promise<Store> {
  const { database, isBackground = false } = options
  const other = database === undefined ? {} : { database }
  const socketPath = socketPathOf(dataDir)
  const path = enginePathOf(dataDir)
  for (let tries = STARTING_TRIES; ; tries--) {
    if (await isEngineServed(socketPath))
      return openStore({ kind: 'socket', path: socketPath, isBackground, ...other }, options)
    // A holder without a socket is about to serve it, or about to end. Only the engine's own lock is certain: the pid
    // may be that of a crashed process, reused.
    const holder = holderOf(path)
    if (tries === 0 || holder === undefined || holder === process.pid)
      return openStore({ kind: 'embedded', path, ...other }, options)
    await sleep(STARTING_WAIT_MS)
  }
}
