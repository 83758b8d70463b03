/** Which answers of a node are accepted. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EvmLog } from '../../../../../services/ingest/decode/evm/log.js'
import { doubts, readLogs } from '../../../../../services/ingest/sources/evm/rpc/check-logs.js'
import {
  brokenLink,
  type FullHeader,
  readHeader,
} from '../../../../../services/ingest/sources/evm/rpc/fetch-headers.js'
import {
  bloomBits,
  compileFilter,
  fillShare,
  isInBloom,
} from '../../../../../services/ingest/sources/evm/rpc/log-filter.js'

const hash = (digit: string) => `0x${digit.repeat(64)}`
const A = `0x${'aa'.repeat(20)}`
const B = `0x${'bb'.repeat(20)}`
const SWAP = hash('1')
const MINT = hash('2')
const FILTER = compileFilter({ addresses: [A], topics: [SWAP] })
const blame = (kind: string, detail: string) => new Error(`${kind}: ${detail}`)
const hex = (value: number) => `0x${value.toString(16)}`

const wireLog = (block: number, logIndex: number, more: object = {}) => ({
  address: A,
  topics: [SWAP],
  data: '0x',
  blockNumber: hex(block),
  blockHash: hash(String(block % 10)),
  transactionHash: hash('e'),
  transactionIndex: '0x0',
  logIndex: hex(logIndex),
  removed: false,
  ...more,
})

/** A bloom with these values. */
function bloomOf(...items: string[]): string {
  const digits = new Array<number>(512).fill(0)
  for (const item of items)
    for (const { place, weight } of bloomBits(item)) digits[place - 2] = (digits[place - 2] ?? 0) | weight
  return `0x${digits.map((digit) => digit.toString(16)).join('')}`
}

describe('logs', () => {
  test('in order, within the range and matching the filter are accepted', () => {
    const logs = readLogs([wireLog(5, 0), wireLog(5, 3), wireLog(7, 1)], { from: 5, to: 7 }, FILTER, blame)
    expect(logs.map(({ blockNumber, logIndex }) => [blockNumber, logIndex])).toEqual([
      [5, 0],
      [5, 3],
      [7, 1],
    ])
    expect(logs[0]).toEqual({
      address: A,
      topics: [SWAP],
      data: '0x',
      blockNumber: 5,
      blockHash: hash('5'),
      txHash: hash('e'),
      txIndex: 0,
      logIndex: 0,
    })
  })

  test.each([
    ['duplicated', [wireLog(5, 1), wireLog(5, 1)], /log 1 after log 1/],
    ['reordered', [wireLog(5, 2), wireLog(5, 1)], /log 1 after log 2/],
    ['blocks reordered', [wireLog(6, 2), wireLog(5, 1)], /after those of 6/],
    ['transactions reordered', [wireLog(5, 1, { transactionIndex: '0x2' }), wireLog(5, 2)], /after log 1/],
    ['outside the range', [wireLog(8, 1)], /outside 5 to 7/],
    ['from another contract', [wireLog(5, 1, { address: B })], /does not pass the filter/],
    ['of another event', [wireLog(5, 1, { topics: [MINT] })], /does not pass the filter/],
    ['without topics', [wireLog(5, 1, { topics: [] })], /does not pass the filter/],
    ['removed', [wireLog(5, 1, { removed: true })], /a removed log/],
    [
      'two blocks with one number',
      [wireLog(5, 1), wireLog(5, 2, { blockHash: hash('f') })],
      /two blocks with number 5/,
    ],
    ['an odd number of digits', [wireLog(5, 1, { data: '0x1' })], /malformed/],
    ['without a transaction', [wireLog(5, 1, { transactionHash: null })], /has no block or transaction hash/],
    ['pending', [wireLog(5, 1, { blockNumber: null })], /without block number/],
    ['not a list', { logs: [] }, /not a list/],
    ['null', [null], /not an object/],
  ])('%s: rejected as a lie', (_, answer, reason) => {
    expect(() => readLogs(answer, { from: 5, to: 7 }, FILTER, blame)).toThrow(reason)
  })

  test('by hash are rejected if they are of another block', () => {
    const asked = { from: 0, to: 9, hash: hash('6') }
    expect(() => readLogs([wireLog(5, 1)], asked, FILTER, blame)).toThrow(/returned for 0x666/)
  })
})

describe('headers', () => {
  const wire = { number: '0x5', hash: hash('5'), parentHash: hash('4'), timestamp: '0x64', transactions: ['0x1'] }
  test('as requested are accepted', () => {
    const expected = { number: 5, hash: hash('5'), parentHash: hash('4'), timeS: 100, bloom: null, txCount: 1 }
    expect(readHeader(wire, { number: 5 }, blame)).toEqual(expected)
    expect(readHeader({ ...wire, logsBloom: bloomOf(A) }, {}, blame)).toEqual({ ...expected, bloom: bloomOf(A) })
  })
  test.each([
    ['unknown', null, /unknown_block: no block 5/],
    ['another number', { ...wire, number: '0x6' }, /lies: block 6 returned for 5/],
    ['an invalid hash', { ...wire, hash: '0x12' }, /lies: header without/],
    ['pending', { ...wire, hash: null }, /lies: header without/],
    ['a string', 'block', /lies: header without/],
  ])('%s', (_, answer, reason) => {
    expect(() => readHeader(answer, { number: 5 }, blame)).toThrow(reason)
  })
  test('are linked by their parents', () => {
    const chain = ['3', '4', '5'].map((digit) => ({
      number: Number(digit),
      hash: hash(digit),
      parentHash: hash(String(Number(digit) - 1)),
      timeS: 0,
    }))
    expect(brokenLink(chain)).toBe(-1)
    expect(brokenLink(chain.map((header, place) => (place === 1 ? { ...header, hash: hash('f') } : header)))).toBe(2)
  })
})

describe('blooms', () => {
  test('contain what was added to them', () => {
    const item = fc
      .uint8Array({ minLength: 20, maxLength: 20 })
      .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 50 }), (items) => {
        const bloom = bloomOf(...items)
        expect(items.every((one) => isInBloom(bloom, bloomBits(one)))).toBe(true)
        expect(items.every((one) => isInBloom(bloom.toUpperCase().replace('0X', '0x'), bloomBits(one)))).toBe(true)
        expect(fillShare(bloom)).toBeLessThanOrEqual((items.length * 3) / 2048)
      }),
    )
  })
})

describe('doubts about missing logs', () => {
  const header = (number: number, bloom: string | null): FullHeader => ({
    number,
    hash: hash(String(number % 10)),
    parentHash: hash('0'),
    timeS: 0,
    bloom,
    txCount: null,
  })
  const inBloom = (log: EvmLog, bloom: string) => isInBloom(bloom, bloomBits(log.address))
  const logsIn = (...numbers: number[]) =>
    new Map(
      numbers.map((number) => [number, readLogs([wireLog(number, 0)], { from: 0, to: 99 }, FILTER, blame)] as const),
    )
  const full = bloomOf(A, SWAP)
  const empty = bloomOf()
  const busy = `0x${'f'.repeat(512)}`
  const find = (headers: FullHeader[], ...withLogs: number[]) =>
    Object.fromEntries(doubts(headers, logsIn(...withLogs), FILTER, inBloom))

  test('a block without logs whose bloom matches the filter', () => {
    expect(find([header(1, full), header(2, full), header(3, empty)], 1)).toEqual({ 1: 'cut', 2: 'empty' })
  })
  test('not if only the address or only the topic matches', () => {
    expect(find([header(1, full), header(2, bloomOf(A)), header(3, bloomOf(SWAP))], 1)).toEqual({ 1: 'cut' })
  })
  test('the last block with logs in a range, even of one block: its last logs may be missing', () => {
    expect(find([header(1, full), header(2, full), header(3, empty)], 1, 2)).toEqual({ 2: 'cut' })
    expect(find([header(1, full)], 1)).toEqual({ 1: 'cut' })
    expect(find([header(1, empty)])).toEqual({})
  })
  test('logs of another block with the same number', () => {
    expect(find([{ ...header(1, full), hash: hash('f') }, header(2, empty)], 1)).toEqual({ 1: 'other_block' })
  })
  test('a log that is not in the bloom of its block', () => {
    expect(find([header(1, bloomOf(B)), header(2, full)], 1, 2)).toEqual({ 1: 'not_in_bloom', 2: 'cut' })
  })
  test('a full bloom proves nothing, except that the last block must be checked', () => {
    expect(find([header(1, full), header(2, busy), header(3, busy), header(4, busy)], 1)).toEqual({
      1: 'cut',
      4: 'empty',
    })
  })
  test('after enough logs for a silent cap, a full bloom is checked', () => {
    const many = readLogs(
      Array.from({ length: 100 }, (_, place) => wireLog(1, place)),
      { from: 1, to: 3 },
      FILTER,
      blame,
    )
    const headers = [header(1, full), header(2, busy), header(3, busy)]
    expect(Object.fromEntries(doubts(headers, new Map([[1, many]]), FILTER, inBloom))).toEqual({
      1: 'cut',
      2: 'empty',
      3: 'empty',
    })
  })
  test('without blooms the last block must be checked', () => {
    expect(find([header(1, null), header(2, null)])).toEqual({ 2: 'empty' })
  })
})
