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
