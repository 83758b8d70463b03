import { createHmac, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashKey } from '../../services/core/keys/key-store.js'
import { createWsTokens, TOKEN_LIFE_MS } from '../../services/serve/keys/ws-tokens.js'

const HASH = hashKey('a key')
const SECRET = randomBytes(32).toString('hex')

function node(hashes: Record<string, string> = { k1: HASH }, secret = SECRET) {
  const clock = { ms: 1_000_000 }
  return {
    clock,
    tokens: createWsTokens(
      secret,
      randomBytes,
      () => clock.ms,
      (id) => hashes[id],
    ),
  }
}

describe('a one-time WebSocket token', () => {
  it('works once, on any node with the key and the secret', () => {
    const [issuer, other] = [node(), node()]
    const { token } = issuer.tokens.issue('k1', HASH)
    expect([other.tokens.redeem(token), other.tokens.redeem(token)]).toEqual([HASH, undefined])
    expect(node({ k1: HASH }, 'of another installation').tokens.redeem(issuer.tokens.issue('k1', HASH).token)).toBe(
      undefined,
    )
  })

  it('cannot be forged from the stored hash of a key', () => {
    const { tokens, clock } = node()
    const words = `k1.${clock.ms + 1000}.${randomBytes(16).toString('base64url')}`
    for (const text of [`websocket ${words}`, `websocket ${HASH} ${words}`]) {
      const seal = createHmac('sha256', HASH).update(text).digest('base64url')
      expect(tokens.redeem(`${words}.${seal}`)).toBeUndefined()
    }
  })

  it('is rejected when its expiry is beyond its lifetime plus the allowed clock skew', () => {
    const [issuer, other] = [node(), node()]
    issuer.clock.ms += 60_000
    expect(other.tokens.redeem(issuer.tokens.issue('k1', HASH).token)).toBe(HASH)
    issuer.clock.ms += 1
    expect(other.tokens.redeem(issuer.tokens.issue('k1', HASH).token)).toBeUndefined()
  })

  it('expires after a minute and with its key', () => {
    const { tokens, clock } = node()
    const { token, expiresAtMs } = tokens.issue('k1', HASH)
    expect(expiresAtMs).toBe(clock.ms + TOKEN_LIFE_MS)
    clock.ms = expiresAtMs
    expect(tokens.redeem(token)).toBeUndefined()
    expect(node({}).tokens.redeem(node().tokens.issue('k1', HASH).token)).toBeUndefined()
    expect(node({ k1: hashKey('another') }).tokens.redeem(node().tokens.issue('k1', HASH).token)).toBeUndefined()
  })

  it('is rejected when changed or invented', () => {
    const { tokens } = node({ k1: HASH, k2: hashKey('another') })
    const { token } = tokens.issue('k1', HASH)
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom(...'aZ0-_.2'), (at, letter) => {
        const changed = token.slice(0, at) + letter + token.slice(at + 1)
        // The last character of a signature has unused bits.
        if (changed === token || at === token.length - 1) return
        expect(tokens.redeem(changed)).toBeUndefined()
      }),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(tokens.redeem(text)).toBeUndefined()
      }),
    )
    expect(tokens.redeem(token)).toBe(HASH)
  })
})
