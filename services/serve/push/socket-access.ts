/**
 * What one key holds over all its sockets on this server: sockets and subscribed ids. Limits of a socket alone do not bound
 * memory, for a key may open as many sockets as it likes. Each server counts on its own.
 */
import { PLANS } from '../../core/keys/key-store.js'
import type { Access } from '../keys/key-gate.js'
import { RPC, RpcError } from './rpc.js'

export interface KeyUsage {
  /** Counts one more socket of the key; undefined where its plan allows no more. */
  openSocket(access: Access): SocketUsage | undefined
}

export interface SocketUsage {
  /** Throws RpcError, and counts nothing, where the key would hold more ids than its plan allows. */
  takeIds(count: number): void
  releaseIds(count: number): void
  /** Releases the socket and the ids it still holds. */
  close(): void
}

type Held = { sockets: number; ids: number }

export function createKeyUsage(): KeyUsage {
  const byKey = new Map<string, Held>()

  return {
    openSocket({ id, plan }) {
      const { maxSockets, maxIds } = PLANS[plan]
      const held = byKey.get(id) ?? { sockets: 0, ids: 0 }
      if (maxSockets !== null && held.sockets >= maxSockets) return undefined
      byKey.set(id, held)
      held.sockets += 1
      let own = 0

      return {
        takeIds(count) {
          if (maxIds !== null && held.ids + count > maxIds) throw tooManyIds(plan, maxIds, held.ids, count)
          held.ids += count
          own += count
        },
        releaseIds(count) {
          held.ids -= count
          own -= count
        },
        close() {
          held.sockets -= 1
          held.ids -= own
          own = 0
          if (held.sockets === 0) byKey.delete(id)
        },
      }
    },
  }
}

export function tooManySockets({ plan }: Access): string {
  return `The plan ${plan} allows ${PLANS[plan].maxSockets} open sockets a key. Close one first.`
}

function tooManyIds(plan: string, maxIds: number, inUse: number, wanted: number): RpcError {
  return new RpcError(
    RPC.limitExceeded,
    `The plan ${plan} allows ${maxIds} subscribed ids over all sockets of a key: ${inUse} are in use, ${wanted} more were asked for. Unsubscribe from some first.`,
  )
}
