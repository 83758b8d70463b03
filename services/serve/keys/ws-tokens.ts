import { hashKey } from '../../core/config/keys.js'

/** How long a token may be used to connect. */
export const TOKEN_LIFE_MS = 60_000
const TOKEN_BYTES = 32
/** Tokens nobody used yet; beyond it the oldest is dropped. */
const MAX_TOKENS = 10_000

/**
 * Short-lived words that stand for a key where no header can be sent. Each opens one socket; only their hashes are kept, in this
 * process alone.
 */
export interface WsTokens {
  issue(keyHash: string): { token: string; expiresAtMs: number }
  /** The hash of the key it stands for; it is used up. */
  redeem(token: string): string | undefined
}

export function createWsTokens(random: (bytes: number) => Buffer, nowMs: () => number): WsTokens {
  /** In the order of their expiry. */
  const byHash = new Map<string, { keyHash: string; expiresAtMs: number }>()

  function forgetOld(): void {
    for (const [hash, { expiresAtMs }] of byHash) {
      if (expiresAtMs > nowMs() && byHash.size < MAX_TOKENS) return
      byHash.delete(hash)
    }
  }

  return {
    issue(keyHash) {
      forgetOld()
      const token = random(TOKEN_BYTES).toString('base64url')
      const expiresAtMs = nowMs() + TOKEN_LIFE_MS
      byHash.set(hashKey(token), { keyHash, expiresAtMs })
      return { token, expiresAtMs }
    },
    redeem(token) {
      const hash = hashKey(token)
      const found = byHash.get(hash)
      byHash.delete(hash)
      return found !== undefined && nowMs() < found.expiresAtMs ? found.keyHash : undefined
    },
  }
}
