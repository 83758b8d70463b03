/** Picked parts of an answer equal those of `JSON.parse`. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LowerHex, objectOf, pickJson, type Wanted } from '../../../../services/ingest/sources/nodes/pick-json.js'

const pick = (text: string, wanted: Wanted) => pickJson(Buffer.from(text), wanted)
const itemOf = () => objectOf({ a: 'whole', b: { items: 'whole' }, c: 'hex' }, ([a, b, c]) => ({ a, b, c }))
/** What `pickJson` should return, computed from the parsed JSON. */
const less = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { a, b, c } = value as { a?: unknown; b?: unknown; c?: unknown }
  const isHex = typeof c === 'string' && /^0x([0-9a-f]{2})*$/.test(c)
  return { a, b, c: isHex ? new LowerHex(c) : c }
}

const HASH = `0x${'ab12'.repeat(16)}`

describe('a list of objects', () => {
  test.each([
    ['as nodes write it', `[{"a":"${HASH}","x":{"y":["}",1]},"b":["0x1","0x2"],"c":"0x00ff"}]`],
    ['with whitespace', ' [ { "a" : 1 , "b" : [ ] , "c" : null } , { "a" : "x" } ]\n'],
    [
      'in another order, with fields missing',
      '[{"a":"1","b":[]},{"b":["2"],"a":"1"},{},{"c":"0xAB"},{"a":"1","b":[]}]',
    ],
    ['with other kinds', '[{"a":false,"b":"no list","c":{"d":1}},null,"text",[1],{"a":true,"b":null,"c":-1.5e3}]'],
    ['with values that are longer and shorter', '[{"a":"0123456789"},{"a":"01234"},{"a":"0123456789ab"},{"a":""}]'],
    ['with a key twice', '[{"a":1,"a":"2"}]'],
    ['with escapes', '[{"a":"\\"}","\\u0061":1,"c":"0x\\u0030\\u0030"}]'],
    ['with other letters', '[{"a":"é","b":["\u{1f600}"],"c":"0xéé"}]'],
    ['empty', '[]'],
  ])('%s', (_, text) => {
    const plain = !text.includes('\\') && /^[ -~\s]*$/.test(text)
    const parsed = JSON.parse(text) as unknown[]
    expect(pick(text, { items: itemOf() })).toEqual(plain ? parsed.map(less) : parsed)
  })

  test.each([
    '',
    '[',
    '[{"a":1]',
    '[{"a":1},]',
    '[{"a":1}{"a":1}]',
    '[{"a"}]',
    '[{a:1}]',
    '[{"a":tru}]',
    '[{"a":fals!}]',
    '[{"a":"1}]',
    '[{"x":"1}]',
    '[{"x":[1}',
    '[{"a":}]',
    '[{,"a":1}]',
    '[] []',
    '[{"c":"0x00}]',
    '<html>',
  ])('%s is not JSON', (text) => expect(() => pick(text, { items: itemOf() })).toThrow(SyntaxError))

  test('unwanted items become undefined', () => {
    expect(pick('["0x1",{"a":["]"]},[[]],2]', { items: 'nothing' })).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  test('skips long strings up to their end', () => {
    const long = '0'.repeat(5000)
    expect(pick(`[{"x":"${long}","a":1},{"x":"${long}0","a":"${long}"}]`, { items: itemOf() })).toEqual([
      { a: 1, b: undefined, c: undefined },
      { a: long, b: undefined, c: undefined },
    ])
  })

  test('keeps little memory for objects with very many members or long names', () => {
    const wanted = itemOf()
    const names = Array.from({ length: 1000 }, (_, place) => `"${'x'.repeat(place)}":${place}`)
    expect(pick(`[{${names.join()},"a":1},{${names.join()},"a":"2"}]`, { items: wanted })).toEqual([
      { a: 1, b: undefined, c: undefined },
      { a: '2', b: undefined, c: undefined },
    ])
    expect(wanted.members.length).toBeLessThan(100)
  })

  test('reads any list after any other', () => {
    const wanted = { items: itemOf() }
    const key = fc.constantFrom('a', 'b', 'c', 'x', 'aa')
    const digits = fc
      .string({ unit: fc.constantFrom(...'0123456789abcdefAF'), maxLength: 70 })
      .map((text) => `0x${text}`)
    const text = fc.oneof(digits, fc.constantFrom(HASH, `${HASH.slice(0, 65)}c`, ''), fc.string())
    const value = fc.oneof(text, fc.array(text, { maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }))
    const list = fc.array(fc.oneof({ weight: 5, arbitrary: fc.dictionary(key, value) }, fc.jsonValue({ maxDepth: 1 })))
    fc.assert(
      fc.property(list, fc.constantFrom(undefined, 1), (items, indent) => {
        const written = JSON.stringify(items, null, indent)
        const plain = !written.includes('\\') && /^[ -~\s]*$/.test(written)
        const parsed = JSON.parse(written) as unknown[]
        expect(pick(written, wanted)).toEqual(plain ? parsed.map(less) : parsed)
      }),
      { numRuns: 500 },
    )
  })
})

test('returns the same object for the same text', () => {
  const made = pick(`["${HASH}","${HASH}","0x${'0'.repeat(64)}","${HASH}"]`, { items: 'whole' }) as string[]
  expect(made).toEqual([HASH, HASH, `0x${'0'.repeat(64)}`, HASH])
})
