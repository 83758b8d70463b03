import { createHmac, timingSafeEqual } from 'node:crypto'

/** How long a token is valid. */
export const TOKEN_LIFE_MS = 60_000
/** How far the clocks of two serve nodes may differ. */
const CLOCK_SKEW_MS = 60_000
const NONCE_BYTES = 16
/** Used tokens remembered until they expire; above this the oldest is dropped. */
const MAX_USED = 100_000

/**
 * Short-lived tokens for clients that cannot send the key in a header. Signed with a secret that is not in the key store, so
 * stored hashes are not enough to forge one. Nodes with the same secret accept each other's tokens; each token opens one
 * socket per node.
 */
export interface WsTokens {
  issue(keyId: string, keyHash: string): { token: string; expiresAtMs: number }
  /** Consumes the token; returns the hash of its key. The caller checks that the key is valid. */
  redeem(token: string): string | undefined
}

/** `hashOf`: a key's hash by its id. */
export function createWsTokens(
  secret: string,
  random: (bytes: number) => Buffer,
  nowMs: () => number,
  hashOf: (keyId: string) => string | undefined,
): WsTokens {
  /** Expiry by nonce, soonest first. */
  const used = new Map<string, number>()

  function use(nonce: string, expiresAtMs: number): boolean {
    for (const [old, endsMs] of used) {
      if (endsMs > nowMs() && used.size < MAX_USED) break
      used.delete(old)
    }
    if (used.has(nonce)) return false
    used.set(nonce, expiresAtMs)
    return true
  }

  return {
    issue(keyId, keyHash) {
      const expiresAtMs = nowMs() + TOKEN_LIFE_MS
      const claims = `${keyId}.${expiresAtMs}.${random(NONCE_BYTES).toString('base64url')}`
      return { token: `${claims}.${signatureOf(secret, claims, keyHash).toString('base64url')}`, expiresAtMs }
    },
    redeem(token) {
      const [, claims, keyId, expires, nonce, signature] =
        /^(([^.]+)\.(\d{1,16})\.([\w-]+))\.([\w-]+)$/.exec(token) ?? []
      if (claims === undefined || keyId === undefined || nonce === undefined) return undefined
      const keyHash = hashOf(keyId)
      if (keyHash === undefined) return undefined
      const given = Buffer.from(signature ?? '', 'base64url')
      const right = signatureOf(secret, claims, keyHash)
      if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined
      const expiresAtMs = Number(expires)
      const leftMs = expiresAtMs - nowMs()
      if (leftMs <= 0 || leftMs > TOKEN_LIFE_MS + CLOCK_SKEW_MS) return undefined
      return use(nonce, expiresAtMs) ? keyHash : undefined
    },
  }
}

/** Signs the key's hash too: a token ends with its key, even if another key gets the same id. */
function signatureOf(secret: string, claims: string, keyHash: string): Buffer {
  return createHmac('sha256', secret).update(`websocket ${keyHash} ${claims}`).digest()
}
