/** Bytes that clients have not read: of one socket, of all sockets of a key, and of all keys. */
import { type Capacity, MB } from '../../core/domain/plans.js'
import { type Session, type SlowDeps, slowDown } from './session.js'
import type { PushSocket } from './transport/push-transport.js'

export type UnreadDeps = SlowDeps & { slowBytes: number; capacity: Pick<Capacity, 'unreadBytes'> }

type Unread = { socket: PushSocket; session: Session; bytes: number }

/** Slows down sockets that exceed a budget of unread bytes, those with the most unread first. */
export function checkUnread(deps: UnreadDeps, open: ReadonlyMap<PushSocket, Session>): void {
  const reading: Unread[] = []
  for (const [socket, session] of open) {
    const bytes = socket.getBufferedAmount()
    if (bytes > deps.slowBytes) slowDown(deps, socket, session, `more than ${deps.slowBytes} bytes unread`)
    if (bytes > 0) reading.push({ socket, session, bytes })
  }
  if (reading.length === 0) return
  reading.sort((one, other) => other.bytes - one.bytes)
  for (const [limitBytes, ofKey] of byKey(reading)) {
    if (limitBytes !== null)
      slowToLimit(deps, ofKey, limitBytes, `more than ${limitBytes / MB} MB unread over all sockets of the key`)
  }
  const { unreadBytes } = deps.capacity
  slowToLimit(deps, reading, unreadBytes, 'too many bytes unread over all sockets of the server')
}

function byKey(reading: readonly Unread[]): [number | null, Unread[]][] {
  const groups = new Map<string, Unread[]>()
  for (const one of reading) {
    const { keyId } = one.session.budget
    const group = groups.get(keyId)
    if (group === undefined) groups.set(keyId, [one])
    else group.push(one)
  }
  return [...groups.values()].map((group) => [group[0]?.session.budget.limits.unreadBytes ?? null, group])
}

/** A slow socket gets nothing until it has read everything, so its unread bytes no longer grow. */
function slowToLimit(deps: UnreadDeps, reading: readonly Unread[], limitBytes: number, reason: string): void {
  let growing = reading.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const { socket, session, bytes } of reading) {
    if (growing <= limitBytes) return
    slowDown(deps, socket, session, reason)
    growing -= bytes
  }
}

export function unreadBytesOf(open: ReadonlyMap<PushSocket, Session>): number {
  let sum = 0
  for (const socket of open.keys()) sum += socket.getBufferedAmount()
  return sum
}
