/**
 * What one key holds over all its sockets on this server: sockets and subscribed ids. Limits of a socket alone do not bound
 * memory, for a key may open as many sockets as it likes. Each server counts on its own.
 */
import { hashKey, PLANS } from '../../core/keys/key-store.js'
import type { Access, KeyGate } from '../keys/key-gate.js'
import type { WsTokens } from '../keys/ws-tokens.js'
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
    `The plan ${plan} allows ${maxIds} subscribed ids over all sockets of a key: ${inUse} are in use, ${wanted} more were plan for. Unsubscribe from some first.`,
  )
}

/** Who opened a socket; the key's hash, to see whether it still may. */
export type Admitted = { access: Access; keyHash: string }
/** Told in one message before the close: browsers see nothing of an upgrade that is refused. */
export type Refused = { refusal: string; code: number }

type AdmitDeps = { gate: KeyGate; tokens: WsTokens }

const BAD_KEY = -1

/** A socket comes with a key, or with a token that stands for one: neither is kept, only the key's hash. */
export function admit({ gate, tokens }: AdmitDeps, key: string, token: string): Admitted | Refused {
  if (key === '' && token === '') return { refusal: 'Missing API Key', code: BAD_KEY }
  const keyHash = key === '' ? tokens.redeem(token) : hashKey(key)
  const admission = keyHash === undefined ? undefined : gate.identifyHash(keyHash)
  if (keyHash === undefined || !admission?.ok) return { refusal: 'Unauthorized', code: BAD_KEY }
  return { access: admission.access, keyHash }
}
