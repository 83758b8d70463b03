/** A Geyser stream against a real gRPC endpoint. */
import { status } from '@grpc/grpc-js'
import { describe, expect, it } from 'vitest'
import { memoryBook } from '../../../../../services/ingest/decode/solana/block/book.js'
import { decodeSolanaBlock, type RawInBlock } from '../../../../../services/ingest/decode/solana/block/decode-block.js'
import { PROGRAMS } from '../../../../../services/ingest/decode/solana/programs.js'
import { accountsOfInterest } from '../../../../../services/ingest/sources/solana/geyser/geyser-service.js'
import type { SlotBlock } from '../../../../../services/ingest/sources/solana/slot-block.js'
import { recordedCases } from '../../../../rig/recordings.js'
import { rulesOf } from '../../../decode/solana/block/decoded.js'
import type { RealTransaction } from '../../../decode/solana/real-transactions.js'
import {
  blockUpdate,
  generatedForGeyser,
  hashOf,
  recordedFromGeyser,
  wireInfo,
  wireTransaction,
} from './geyser-blocks.js'
import { serve, testSignal } from './geyser-rig.js'

const VOTE = wireInfo(0, {}, {}, true)

describe('a Geyser stream', () => {
  it('subscribes to whole blocks, or to those with our programs, at its commitment', async () => {
    const rig = await serve((visitor) => visitor.send(blockUpdate(5)))
    const programs = accountsOfInterest({ balances: 'off' }, PROGRAMS)
    await rig.taken(1)
    await rig.taken(1, 5, { commitment: 'finalized', accounts: programs })
    const filter = { includeTransactions: true, includeAccounts: false, includeEntries: false }
    expect(rig.server.visitors.map(({ requests: [first] }) => first)).toMatchObject([
      { blocks: { dextape: { ...filter, accountInclude: [] } }, commitment: 1 },
      { blocks: { dextape: { ...filter, accountInclude: programs } }, commitment: 2, fromSlot: '5' },
    ])
    expect(rig.server.visitors[0]?.fromSlot).toBeUndefined()
    expect(programs.length).toBeGreaterThanOrEqual(PROGRAMS.length)
    expect(accountsOfInterest({ balances: 'scoped' }, PROGRAMS)).toEqual([])
    expect(accountsOfInterest({ balances: 'off', holders: ['a token'] }, PROGRAMS)).toEqual([])
  })

  it('yields blocks with their links, without votes, with transactions in execution order', async () => {
    const rig = await serve((visitor) =>
      visitor.send(blockUpdate(9, [wireInfo(2), VOTE, wireInfo(1)], { parentSlot: 7 })),
    )
    const [block] = await rig.taken(1)
    expect({ ...block, transactions: block?.transactions.map(({ index }) => index) }).toEqual({
      number: 9,
      hash: hashOf(9),
      parentNumber: 7,
      parentHash: hashOf(8),
      timeS: 1_760_000_009,
      transactions: [1, 2],
    })
  })

  const sets: readonly (readonly [kind: string, transactions: readonly RealTransaction[]])[] = [
    ['generated', generatedForGeyser()],
    ...recordedCases('streamed transactions', 1, () => [['recorded', recordedFromGeyser()] as const]),
  ]

  it.each(sets)('decodes %s transactions like their JSON form', async (_, sent) => {
    const rules = rulesOf({ balances: 'all' })
    const rig = await serve(async (visitor) => {
      for (const [at, recorded] of sent.entries())
        await visitor.send(blockUpdate(recorded.slot, [wireTransaction(recorded, at)]))
    })
    const blocks = await rig.taken(sent.length)
    const fromWire = blocks.map(({ number, transactions }) =>
      decodeSolanaBlock(number, transactions, memoryBook(), rules),
    )
    const fromJson = sent.map(({ slot, value }, index) =>
      decodeSolanaBlock(slot, [{ index, value }], memoryBook(), rules),
    )
    expect(fromWire).toEqual(fromJson)
    expect(fromWire.flatMap(({ events }) => events).length).toBeGreaterThan(100)
    expect(fromWire.flatMap(({ lost }) => lost)).toEqual([])
    // The form of a dead letter.
    const fromLetters = blocks.map(({ number, transactions }) =>
      decodeSolanaBlock(number, JSON.parse(JSON.stringify(transactions)) as RawInBlock[], memoryBook(), rules),
    )
    expect(fromLetters).toEqual(fromJson)
  })

  it('passes an unreadable transaction to the decoder without affecting the others', async () => {
    const good = wireInfo(
      0,
      { message: { accountKeys: [Buffer.alloc(32)] } },
      { preBalances: ['18446744073709551615'] },
    )
    const bad = { isVote: false, index: 1, transaction: Buffer.from('0aff', 'hex'), meta: Buffer.from('0a00', 'hex') }
    const rig = await serve((visitor) => visitor.send(blockUpdate(3, [good, bad, { ...good, index: 2, meta: '' }])))
    const [block] = await rig.taken(1)
    const { lost } = decodeSolanaBlock(3, block?.transactions ?? [], memoryBook(), rulesOf())
    expect(lost.map(({ reason, detail, txIndex }) => [reason, detail, txIndex])).toEqual([
      ['bad_transaction', expect.stringContaining('transaction is not a valid message: index out of range'), 1],
      ['bad_transaction', 'meta is missing', 2],
    ])
    expect(JSON.parse(JSON.stringify(block?.transactions[0]?.value))).toMatchObject({
      meta: { preBalances: ['18446744073709551615'], err: null, logMessages: [] },
    })
    expect(JSON.parse(JSON.stringify(lost[0]?.value))).toMatchObject({ transaction: { data: [10, 255] } })
  })

  it('answers pings', async () => {
    const rig = await serve(async (visitor) => {
      await visitor.send({ ping: {} })
      await visitor.request(2)
      await visitor.send({ pong: { id: 1 } })
      await visitor.send(blockUpdate(3))
    })
    expect((await rig.taken(1)).map(({ number }) => number)).toEqual([3])
    expect(rig.server.visitors[0]?.requests[1]).toMatchObject({ ping: { id: 1 } })
  })

  it('accepts a block of 52 MB', async () => {
    const data = Buffer.alloc(52_000_000)
    const large = wireInfo(0, { message: { instructions: [{ data }] } })
    const rig = await serve((visitor) => visitor.send(blockUpdate(3, [large])))
    expect((await rig.taken(1)).map(({ transactions }) => transactions.length)).toEqual([1])
  })

  it('stops on request, and disconnects', async () => {
    const rig = await serve((visitor) => visitor.send(blockUpdate(3)))
    const stopping = new AbortController()
    const stream = rig.open()
    for (const stop of [() => stopping.abort(), () => stream.close()]) {
      const signal = rig.server.visitors.length === 0 ? stopping.signal : testSignal()
      const blocks = stream.blocks(undefined, signal)
      await blocks.next()
      const waiting = blocks.next()
      stop()
      expect(await waiting).toEqual({ done: true, value: undefined })
    }
    for (const visitor of rig.server.visitors) await visitor.until(() => false)
    expect(rig.server.visitors.length).toBe(2)
    expect((await stream.blocks(undefined, testSignal()).next()).done).toBe(true)
  })
})

describe('a slot to resume from', () => {
  it.each([
    ['Yellowstone', status.INTERNAL, 'broadcast from 5 is not available, last available: 90'],
    ['a newer Yellowstone', status.OUT_OF_RANGE, 'broadcast from 5 is not available, last available: 90'],
    ['one without replay', status.INTERNAL, 'from_slot is not supported'],
    ['richat', status.INVALID_ARGUMENT, 'failed to get replay position for slot 5'],
    ['one that ends the stream', status.OK, ''],
  ])('that is no longer available at %s: resumes from now on', async (_who, code, details) => {
    const rig = await serve((visitor) => {
      if (visitor.fromSlot === undefined) return visitor.send(blockUpdate(99))
      return code === status.OK ? visitor.end() : visitor.refuse(code, details)
    })
    expect((await rig.taken(1, 5)).map(({ number }) => number)).toEqual([99])
    expect(rig.server.visitors.map(({ fromSlot }) => fromSlot)).toEqual(['5', undefined])
  })

  it('is kept after any other error', async () => {
    const rig = await serve((visitor) => visitor.refuse(status.UNAVAILABLE, 'server is shutting down try again later'))
    expect(await rig.fault(5)).toMatchObject({ kind: 'unavailable' })
    expect(rig.server.visitors.map(({ fromSlot }) => fromSlot)).toEqual(['5'])
  })
})

it('requests all transactions if the endpoint does not accept that many accounts', async () => {
  const rig = await serve((visitor) =>
    visitor.accounts?.length === 0
      ? visitor.send(blockUpdate(8))
      : visitor.refuse(
          status.INVALID_ARGUMENT,
          'failed to create filter: Max amount of Pubkeys reached, only 1 allowed',
        ),
  )
  expect((await rig.taken(1, 8, { accounts: [hashOf(1), hashOf(2)] })).map(({ number }) => number)).toEqual([8])
  expect(rig.server.visitors.map(({ fromSlot }) => fromSlot)).toEqual(['8', '8'])
})

it('keeps a bounded number of the newest blocks for a slow reader, and still answers pings', async () => {
  const last = 400
  let take = () => {}
  const taken = new Promise<void>((resolve) => {
    take = resolve
  })
  const rig = await serve(async (visitor) => {
    await visitor.send(blockUpdate(1))
    await taken
    for (let slot = 2; slot <= last; slot += 1) await visitor.send(blockUpdate(slot))
    await visitor.send({ ping: {} })
  })
  const blocks = rig.open({ maxWaiting: 4 }).blocks(undefined, testSignal())
  const first = (await blocks.next()).value as SlotBlock
  take()
  await rig.server.visitors[0]?.request(2)
  const then: number[] = []
  for (let n = 0; n < 4; n += 1) then.push(((await blocks.next()).value as SlotBlock).number)
  expect([first.number, ...then]).toEqual([1, last - 3, last - 2, last - 1, last])
})
