import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { u32At, u64At, u64OfNumber, u64OfText } from '../../../../../services/ingest/decode/solana/wire/byte-reader.js'

const U64_MAX = 2n ** 64n - 1n

describe('a 64-bit integer', () => {
  it('is read from bytes, digits and numbers like JavaScript reads it', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, U64_MAX), fc.nat(3), (value, before) => {
        const bytes = Buffer.alloc(before + 8)
        bytes.writeBigUInt64LE(value, before)
        expect(u64At(bytes, before)).toBe(value)
        expect(u32At(bytes, before)).toBe(bytes.readUInt32LE(before))
        expect(u64OfText(value.toString())).toBe(value)
        const number = Number(value >> 11n)
        expect(u64OfNumber(number)).toBe(BigInt(number))
      }),
    )
  })

  it.each([0, 1, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER, 2 ** 60])('%d is accepted', (value) => {
    expect(u64OfNumber(value)).toBe(BigInt(value))
  })

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 64, 1e300])('%d is rejected', (value) => {
    expect(u64OfNumber(value)).toBeNull()
  })

  it('is written as decimal digits only', () => {
    for (const text of ['', '-1', '1.5', ' 1', '1 ', '0x10', '1e3', '１', `${U64_MAX + 1n}`, '1'.repeat(21)])
      expect(u64OfText(text), text).toBeNull()
    expect(u64OfText('0')).toBe(0n)
    expect(u64OfText('000000000000000000012')).toBeNull()
    expect(u64OfText('00000000000000000012')).toBe(12n)
    expect(u64OfText(`${U64_MAX}`)).toBe(U64_MAX)
  })
})
