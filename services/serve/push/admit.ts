import { hashKey } from '../../core/keys/key-store.js'
import type { KeyGate } from '../keys/gate.js'
import type { WsTokens } from '../keys/ws-tokens.js'
import type { Admission } from './session.js'

type AdmitDeps = { gate: KeyGate; tokens: WsTokens }

/** A socket comes with a key, or with a token that stands for one: neither is kept, only the key's hash. */
export function admit({ gate, tokens }: AdmitDeps, key: string, token: string): Admission {
  if (key === '' && token === '') return { refusal: 'Missing API Key' }
  const keyHash = key === '' ? tokens.redeem(token) : hashKey(key)
  const admission = keyHash === undefined ? undefined : gate.identifyHash(keyHash)
  if (keyHash === undefined || !admission?.ok) return { refusal: 'Unauthorized' }
  return { access: admission.access, keyHash, subscriptions: new Map(), catchingUp: new Map(), isSlow: false }
}
