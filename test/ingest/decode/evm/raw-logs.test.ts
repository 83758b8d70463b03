import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BadShape, readLogs } from '../../../../services/ingest/decode/evm/raw-logs.js'

const HASH = `0x${'Ab'.repeat(32)}`
const ADDRESS = `0x${'Cd'.repeat(20)}`
const RAW = {
  address: ADDRESS,
  topics: [HASH],
  data: '0xFF',
  blockNumber: '0x10',
  blockHash: HASH,
  transactionHash: HASH,
  transactionIndex: '0x0',
  logIndex: 3,
}
const LOG = {
  address: ADDRESS.toLowerCase(),
  topics: [HASH.toLowerCase()],
  data: '0xff',
  blockNumber: 16,
  blockHash: HASH.toLowerCase(),
  txHash: HASH.toLowerCase(),
  txIndex: 0,
  logIndex: 3,
}

describe('logs in the shapes nodes return', () => {
  it('are read alone, from receipts and from responses', () => {
    const alone = { log: LOG, from: undefined, removed: false }
    const signed = { ...alone, from: ADDRESS.toLowerCase() }
    expect(readLogs(RAW)).toEqual([alone])
    expect(readLogs({ ...RAW, removed: true })).toEqual([{ ...alone, removed: true }])
    expect(readLogs({ result: [{ from: ADDRESS, logs: [RAW] }, RAW] })).toEqual([signed, alone])
    expect(readLogs([{ error: null, result: { from: ADDRESS, logs: [] } }])).toEqual([])
  })

  it.each([
    ['[0].result is neither a receipt nor a log: null', [{ result: null }]],
    ['result.logs must be a list, got {}', { result: { from: ADDRESS, logs: {} } }],
    ['[1].from must be 0x and 20 bytes, got nothing', [RAW, { logs: [] }]],
    [
      'logs[0].topics must be a list of up to four, got nothing',
      { from: ADDRESS, logs: [{ ...RAW, topics: undefined }] },
    ],
    ['topics.0 must be 0x and 32 bytes, got "0x12"', { ...RAW, topics: ['0x12'] }],
    ['data must be 0x and whole bytes, got "0xabc"', { ...RAW, data: '0xabc' }],
    ['logIndex must be a quantity (0x1a), got -1', { ...RAW, logIndex: -1 }],
  ])('%s', (message, value) => {
    expect(() => readLogs(value)).toThrow(BadShape)
    expect(() => readLogs(value)).toThrow(message)
  })

  it('any other value is a bad shape, never another error', () => {
    const log = fc.record(
      Object.fromEntries(
        Object.keys(RAW).map((name) => [name, fc.oneof(fc.constant(RAW[name as keyof typeof RAW]), fc.anything())]),
      ),
    )
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), log, fc.record({ logs: fc.array(log), from: fc.constant(ADDRESS) })),
        (value) => {
          try {
            readLogs(value)
          } catch (error) {
            if (!(error instanceof BadShape)) throw error
          }
        },
      ),
      { numRuns: 1000 },
    )
  })
})
