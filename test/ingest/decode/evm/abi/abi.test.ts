import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { selectorOf, topicOf } from '../../../../../services/ingest/decode/evm/abi/keccak.js'
import * as abi from '../../../../../services/ingest/decode/evm/abi/log-fields.js'
import * as calls from '../../../../../services/ingest/decode/evm/abi/view-calls.js'
import { BadLog } from '../../../../../services/ingest/decode/evm/protocol.js'
import { makeLog, type Word, word } from '../rig.js'

const logOf = (...data: Word[]) => makeLog('Test()', [], data)
const hex = (...data: Word[]) => `0x${data.map(word).join('')}`
const MAX = 2n ** 256n - 1n

describe('hashes', () => {
  it('equal those of the contracts', () => {
    expect(topicOf('Transfer(address,address,uint256)')).toBe(
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    )
    expect(selectorOf('balanceOf(address)')).toBe('0x70a08231')
  })
})

describe('fields of a log', () => {
  it('numbers keep every bit and their sign', () => {
    expect([abi.uintAt(logOf(MAX), 0), abi.intAt(logOf(-1), 0)]).toEqual([MAX, -1n])
    expect([abi.intAt(logOf(-8388608), 0, 24), abi.intAt(logOf(8388607), 0, 24)]).toEqual([-8388608n, 8388607n])
    expect([abi.uintAt(logOf(255), 0, 8), abi.boolAt(logOf(1), 0)]).toEqual([255n, true])
  })

  it('numbers of any size equal what BigInt parses, next to any others', () => {
    const number = fc.oneof(
      fc.bigInt(0n, MAX),
      fc.integer({ min: 0, max: 256 }).chain((bits) => fc.bigInt(0n, 2n ** BigInt(bits) - (bits > 0 ? 1n : 0n))),
    )
    fc.assert(
      fc.property(number, number, (one, other) => {
        const log = logOf(other, one, -one % 2n ** 255n, other)
        expect(abi.uintAt(log, 1)).toBe(BigInt.asUintN(256, one))
        expect(abi.intAt(log, 1)).toBe(BigInt.asIntN(256, one))
        expect(abi.intAt(log, 2)).toBe(-one % 2n ** 255n)
      }),
    )
  })

  it('an invalid digit invalidates its word at any position', () => {
    const place = fc.integer({ min: 0, max: 63 })
    fc.assert(
      fc.property(place, fc.constantFrom(...'g@`:/ GxéİＡ'), fc.boolean(), (at, wrong, isNegative) => {
        const digits = (isNegative ? 'f' : '0').repeat(64)
        const log = { ...logOf(), data: `0x${digits.slice(0, at)}${wrong}${digits.slice(at + 1)}` }
        for (const read of [abi.uintAt, abi.intAt, abi.addressAt, abi.bytes32At])
          expect(() => read(log, 0)).toThrow(BadLog)
      }),
    )
  })

  it.each([
    ['a number wider than its type', () => abi.uintAt(logOf(256), 0, 8)],
    ['a negative number below the range of its type', () => abi.intAt(logOf(-8388609), 0, 24)],
    ['a number above the range of its signed type', () => abi.intAt(logOf(8388608), 0, 24)],
    ['an address with non-zero padding', () => abi.addressAt(logOf(2n ** 160n), 0)],
    ['a bool that is two', () => abi.boolAt(logOf(2), 0)],
    ['a missing word', () => abi.uintAt(logOf(1), 1)],
    ['a missing topic', () => abi.indexedUint(logOf(), 1)],
    ['invalid digits', () => abi.uintAt({ ...logOf(), data: `0x${' '.repeat(63)}1` }, 0)],
    ['an offset past the end', () => abi.bytesAt(logOf(64), 0)],
    ['an offset above any valid number', () => abi.bytesAt(logOf(MAX), 0)],
    ['a length past the end', () => abi.bytesAt(logOf(32, 1), 0)],
    ['an array longer than its data', () => abi.uintsAt(logOf(32, 2, 7), 0)],
    ['an array with an impossible length', () => abi.uintsAt(logOf(32, MAX), 0)],
    ['a missing topic for the shape', () => abi.expectShape(logOf(), 2, 0)],
    ['an extra word', () => abi.expectShape(logOf(1), 1, 0)],
  ])('%s is a bad log', (_, read) => expect(read).toThrow(BadLog))

  it('dynamic values are read at their offset', () => {
    const log = logOf(64, 160, 2, 7, 8, 3, `0x${'616263'.padEnd(64, '0')}`)
    expect([abi.uintsAt(log, 0), abi.bytesAt(log, 1)]).toEqual([[7n, 8n], '0x616263'])
  })
})

describe('calls and answers', () => {
  it('a call is its selector followed by its words', () => {
    expect(calls.callOf('0xaa', '0x70a08231', calls.addressWord(`0x${'1'.repeat(40)}`), calls.intWord(-1))).toEqual({
      to: '0xaa',
      data: `0x70a08231${'1'.repeat(40).padStart(64, '0')}${'f'.repeat(64)}`,
    })
  })

  it('an invalid answer is null', () => {
    expect([null, '0x', '0x01', hex(2n ** 160n)].map((answer) => calls.answeredAddress(answer))).toEqual([
      null,
      null,
      null,
      null,
    ])
    expect(calls.answeredAddress(hex(5))).toBe(`0x${'5'.padStart(40, '0')}`)
  })
})

describe('random data', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), maxLength: 600 }),
    fc.array(fc.constantFrom(word(0), word(1), word(32), word(64), word(MAX)), { maxLength: 8 }).map((w) => w.join('')),
  )
  const place = fc.integer({ min: 0, max: 8 })

  it('is a bad log, never another error', () => {
    const { expectShape: _, ...readers } = abi
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 4 }), place, (data, topics, at) => {
        const log = { ...logOf(), data: `0x${data}`, topics: topics.map((topic) => `0x${topic}`) }
        for (const read of Object.values(readers)) {
          try {
            read(log, at)
          } catch (error) {
            if (!(error instanceof BadLog)) throw error
          }
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('never throws as an answer', () => {
    const readers = [
      calls.answeredUint,
      calls.answeredInt,
      calls.answeredAddress,
      calls.answeredBool,
      calls.answeredBytes32,
      calls.answeredBytes,
      calls.answeredUints,
      calls.answeredAddresses,
    ]
    fc.assert(
      fc.property(text, place, (answer, at) => {
        for (const read of readers) read(answer, at)
        for (const read of readers) read(`0x${answer}`, at)
      }),
      { numRuns: 2000 },
    )
  })
})
