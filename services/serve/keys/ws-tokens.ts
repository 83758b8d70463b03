import { createHmac, timingSafeEqual } from 'node:crypto'

/** How long a token may be used to connect. */
export const TOKEN_LIFE_MS = 60_000
/** How far the clocks of two serve nodes may differ. */
const CLOCK_SKEW_MS = 60_000
const NONCE_BYTES = 16
/** Tokens used within their life; beyond it the oldest is forgotten. */
const MAX_USED = 100_000

/**
 * Short-lived tokens that stand for a key where no header can be sent. Signed with a secret that is not in the key store, so
 * reading stored hashes is not enough to forge one. Nodes with the same secret accept each other's tokens; each token opens
 * one socket on a node.
 */
export interface WsTokens {
  issue(keyId: string, keyHash: string): { token: string; expiresAtMs: number }
  /** The hash of the key it stands for, whose validity is the caller's to judge; the token is used up. */
  redeem(token: string): string | undefined
}

/** `hashOf`: a key's hash by its id. */
export function createWsTokens(
  secret: string,
  random: (bytes: number) => Buffer,
  nowMs: () => number,
  hashOf: (keyId: string) => string | undefined,
): WsTokens {
  /** Nonces and when they end, in that order. */
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
      const words = `${keyId}.${expiresAtMs}.${random(NONCE_BYTES).toString('base64url')}`
      return { token: `${words}.${sealOf(secret, words, keyHash).toString('base64url')}`, expiresAtMs }
    },
    redeem(token) {
      const [, words, keyId, expires, nonce, seal] = /^(([^.]+)\.(\d{1,16})\.([\w-]+))\.([\w-]+)$/.exec(token) ?? []
      if (words === undefined || keyId === undefined || nonce === undefined) return undefined
      const keyHash = hashOf(keyId)
      if (keyHash === undefined) return undefined
      const given = Buffer.from(seal ?? '', 'base64url')
      const right = sealOf(secret, words, keyHash)
      if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined
      const expiresAtMs = Number(expires)
      const leftMs = expiresAtMs - nowMs()
      if (leftMs <= 0 || leftMs > TOKEN_LIFE_MS + CLOCK_SKEW_MS) return undefined
      return use(nonce, expiresAtMs) ? keyHash : undefined
    },
  }
}

/** The key's hash is signed too: a token ends with its key, even where another key gets the same id. */
function sealOf(secret: string, words: string, keyHash: string): Buffer {
  return createHmac('sha256', secret).update(`websocket ${keyHash} ${words}`).digest()
}
