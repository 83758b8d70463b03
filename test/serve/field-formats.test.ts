import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decimalOrEmpty,
  decimalOrNull,
  percentChange,
  plainDecimal,
  rawOrNull,
  rawToDecimal,
} from '../../services/serve/views/field-formats.js'

const PLAIN = /^-?\d+(\.\d+)?$/

describe('plainDecimal', () => {
  it('round-trips every finite double without an exponent', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = plainDecimal(value)
        expect(text).toMatch(PLAIN)
        expect(Number(text) === value).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    [0, '0'],
    [-0, '0'],
    [1e21, '1000000000000000000000'],
    [1.5e22, '15000000000000000000000'],
    [1.23e-7, '0.000000123'],
    [-1e-10, '-0.0000000001'],
    [5e-324, `0.${'0'.repeat(323)}5`],
    [0.1, '0.1'],
  ])('prints %d as %s', (value, text) => expect(plainDecimal(value)).toBe(text))

  it('throws on NaN and leaves unknown values to decimalOrNull and decimalOrEmpty', () => {
    expect(() => plainDecimal(Number.NaN)).toThrow(RangeError)
    expect(decimalOrNull(Number.NaN)).toBeNull()
    expect(decimalOrEmpty(Number.POSITIVE_INFINITY)).toBe('')
  })
})

describe('rawToDecimal', () => {
  it('is exact: scaling back gives the raw integer', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }),
        fc.integer({ min: 0, max: 77 }),
        (raw, decimals) => {
          const text = rawToDecimal(String(raw), decimals)
          expect(text).toMatch(PLAIN)
          const [whole = '', fraction = ''] = text.replace('-', '').split('.')
          const back = BigInt(whole + fraction.padEnd(decimals, '0'))
          expect(text.startsWith('-') ? -back : back).toBe(raw)
        },
      ),
    )
  })

  it.each([
    ['24975', 5, '0.24975'],
    ['100', 2, '1'],
    ['0', 18, '0'],
    ['007', 0, '7'],
    ['-50', 2, '-0.5'],
    ['1', 18, '0.000000000000000001'],
  ])('%s with %d decimals is %s', (raw, decimals, text) => expect(rawToDecimal(raw, decimals)).toBe(text))

  it('never guesses decimals', () => {
    expect(rawOrNull('5', null)).toBeNull()
    expect(rawOrNull(null, 6)).toBeNull()
  })
})

it('reports a change in percent, and as unknown without a base', () => {
  expect(percentChange(2, 3)).toBe(50)
  expect(percentChange(0, 3)).toBeNaN()
  expect(percentChange(Number.NaN, 3)).toBeNaN()
})
