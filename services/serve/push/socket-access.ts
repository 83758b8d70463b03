/** Who may open a socket. */
import { hashKey } from '../../core/keys/key-store.js'
import type { BadKeys } from '../keys/bad-keys.js'
import type { Access, KeyGate } from '../keys/key-gate.js'
import type { WsTokens } from '../keys/ws-tokens.js'

/** Who opened a socket; the key's hash, to check later that the key is still valid. */
export type Admitted = { access: Access; keyHash: string }
/** Sent in one message before the close: browsers cannot read a rejected upgrade. */
export type Refused = {
  refusal: string
  code: number
  data?: Record<string, unknown> | undefined
  /** How long its answer must wait. */
  waitMs?: number
}

type AdmitDeps = { gate: KeyGate; tokens: WsTokens; badKeys: BadKeys }

const BAD_KEY = -1

/** Authenticates by key or by token. Neither is kept, only the key's hash. */
export function admit(
  { gate, tokens, badKeys }: AdmitDeps,
  key: string,
  token: string,
  address: string,
): Admitted | Refused {
  if (key === '' && token === '') return { refusal: 'Missing API Key', code: BAD_KEY }
  const keyHash = key === '' ? tokens.redeem(token) : hashKey(key)
  const admission = keyHash === undefined ? undefined : gate.identifyHash(keyHash)
  if (keyHash === undefined || !admission?.ok)
    return { refusal: 'Unauthorized', code: BAD_KEY, waitMs: badKeys.note(address, 'push') }
  return { access: admission.access, keyHash }
}
