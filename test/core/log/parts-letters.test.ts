import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createCodec } from '../../../services/core/log/codec.js'
import { encodeFittingLetter } from '../../../services/core/log/parts.js'
import { memoryRegistry } from './memory-registry.js'

const codec = createCodec(memoryRegistry())
const TOPIC = 'dex.dead.t'

function roundTrip(raw: Buffer, detail: string, maxBytes: number) {
  const letter = { chain: 't', reason: 'r', detail, source: 'dex.blocks.t@7', raw, at: 5 }
  const bytes = encodeFittingLetter(codec, TOPIC, letter, maxBytes)
  const decoded = codec.decodeLogRecord(bytes)
  if (decoded.kind !== 'dead') throw new Error(`a ${decoded.kind}`)
  return { letter, bytes, dead: decoded.dead }
}

it('fits a dead letter of any size into the limit, and marks it if it is cut', () => {
  const around = (limit: number) => fc.integer({ min: 0, max: 2 * limit })
  const sizes = fc.integer({ min: 500, max: 5000 }).chain((max) => fc.tuple(fc.constant(max), around(max), around(max)))
  fc.assert(
    fc.property(sizes, fc.constantFrom('x', '…'), ([maxBytes, rawBytes, detailLength], character) => {
      const raw = Buffer.alloc(rawBytes, 7)
      const { letter, bytes, dead } = roundTrip(raw, character.repeat(detailLength), maxBytes)
      expect(bytes.length).toBeLessThanOrEqual(maxBytes)
      expect([dead.source, dead.reason, dead.at]).toEqual(['dex.blocks.t@7', 'r', 5])
      expect(Buffer.from(dead.raw).equals(raw.subarray(0, dead.raw.length))).toBe(true)
      const isWhole = dead.raw.length === rawBytes && dead.detail === letter.detail
      if (!isWhole) expect(dead.detail).toContain(`(raw cut to ${dead.raw.length} of ${rawBytes} bytes)`)
      if (dead.raw.length < rawBytes) expect(bytes.length).toBeGreaterThan(maxBytes - 20)
    }),
  )
})
