import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createPushBytes } from '../../../services/serve/push/push-bytes.js'

it('gives each beginning with the end that was set, whatever their lengths', () => {
  const bytes = createPushBytes()
  const anyText = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ minLength: 300, maxLength: 20_000 }))
  fc.assert(
    fc.property(anyText, anyText, fc.array(anyText, { maxLength: 4 }), (result, rest, beginnings) => {
      bytes.setEnd(result, rest)
      for (const beginning of beginnings)
        expect(Buffer.from(bytes.startingWith(Buffer.from(beginning))).toString()).toBe(beginning + result + rest)
    }),
  )
})

it('keeps a beginning that several ends in a row have, also when an end needs a larger buffer', () => {
  const anyEnd = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ minLength: 10_000, maxLength: 40_000 }))
  const beginnings = ['{"id":1,', '{"id":"two",', 'x'.repeat(300)].map((text) => ({ text, bytes: Buffer.from(text) }))
  const anyPush = fc.record({
    end: anyEnd,
    ids: fc.array(fc.constantFrom(...beginnings), { minLength: 1, maxLength: 3 }),
  })
  fc.assert(
    fc.property(fc.array(anyPush, { maxLength: 10 }), (pushes) => {
      const bytes = createPushBytes()
      for (const { end, ids } of pushes) {
        bytes.setEnd(end, '}')
        for (const { text, bytes: beginning } of ids)
          expect(Buffer.from(bytes.startingWith(beginning)).toString()).toBe(`${text}${end}}`)
      }
    }),
  )
})
