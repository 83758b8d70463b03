import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isSortedBefore } from '../../../../../services/ingest/decode/solana/instruction/pool-leg.js'
import { encodeBase58 } from '../../../../../services/ingest/decode/solana/keys/base58.js'

test('keys sort like their bytes, including leading zeros', () => {
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const zeros = fc.tuple(fc.integer({ min: 0, max: 4 }), bytes).map(([count, key]) => key.fill(0, 0, count))
  fc.assert(
    fc.property(zeros, zeros, (one, other) => {
      expect(isSortedBefore(encodeBase58(one), encodeBase58(other))).toBe(Buffer.compare(one, other) < 0)
    }),
  )
})
