import { hashKey } from '../../core/keys/key-store.js'
import type { KeyGate } from '../keys/key-gate.js'
import type { WsTokens } from '../keys/ws-tokens.js'
import { type KeyUsage, tooManySockets } from './socket-access.js'
import { RPC } from './rpc.js'
import type { Admitted, Refused, Session } from './session.js'

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

/** Once the socket is open, so that each one counted is also closed. */
export function openSession(keyUsage: KeyUsage, admitted: Admitted | Refused): Session | Refused {
  if ('refusal' in admitted) return admitted
  const usage = keyUsage.openSocket(admitted.access)
  if (usage === undefined) return { refusal: tooManySockets(admitted.access), code: RPC.limitExceeded }
  return { ...admitted, usage, subscriptions: new Map(), catchingUp: new Map(), isSlow: false }
}
