/**
 * Who may open a socket, and how many sockets and subscribed ids a key may hold. Limits per socket alone do not bound
 * memory: a key may open many sockets. Each server counts separately.
 */
import { hashKey, PLANS } from '../../core/keys/key-store.js'
import type { Access, KeyGate } from '../keys/key-gate.js'
import type { WsTokens } from '../keys/ws-tokens.js'
import { RPC, RpcError } from './rpc.js'

export interface KeyUsage {
  /** Counts one more socket of the key; undefined if its plan allows no more. */
  openSocket(access: Access): SocketUsage | undefined
}

export interface SocketUsage {
  /** Throws RpcError, and counts nothing, if the key would exceed its plan's ids. */
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
  return `Too many open sockets: plan ${plan} allows ${PLANS[plan].maxSockets} per key. Close one first.`
}

function tooManyIds(plan: string, maxIds: number, inUse: number, wanted: number): RpcError {
  return new RpcError(
    RPC.limitExceeded,
    `Too many subscribed ids: plan ${plan} allows ${maxIds} per key, ${inUse} in use, ${wanted} more requested. Unsubscribe from some first.`,
  )
}

/** Who opened a socket; the key's hash, to check later that the key is still valid. */
export type Admitted = { access: Access; keyHash: string }
/** Sent in one message before the close: browsers cannot read a rejected upgrade. */
export type Refused = { refusal: string; code: number }

type AdmitDeps = { gate: KeyGate; tokens: WsTokens }

const BAD_KEY = -1

/** Authenticates by key or by token. Neither is kept, only the key's hash. */
export function admit({ gate, tokens }: AdmitDeps, key: string, token: string): Admitted | Refused {
  if (key === '' && token === '') return { refusal: 'Missing API Key', code: BAD_KEY }
  const keyHash = key === '' ? tokens.redeem(token) : hashKey(key)
  const admission = keyHash === undefined ? undefined : gate.identifyHash(keyHash)
  if (keyHash === undefined || !admission?.ok) return { refusal: 'Unauthorized', code: BAD_KEY }
  return { access: admission.access, keyHash }
}
