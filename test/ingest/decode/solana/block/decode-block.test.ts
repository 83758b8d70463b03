/** What a block's transactions become besides legs: announcements, profiles, balances, and what is left out. */
import { describe, expect, it } from 'vitest'
import type { Event } from '../../../../../services/core/domain/records.js'
import { memoryBook } from '../../../../../services/ingest/decode/solana/block/book.js'
import { decodeSolanaBlock } from '../../../../../services/ingest/decode/solana/block/decode-block.js'
import { WRAPPED_SOL } from '../../../../../services/ingest/decode/solana/native-programs.js'
import { readBodies } from '../../../../../services/ingest/decode/solana/wire/parse-block.js'
import { HAS_REAL, realTransaction } from '../real-transactions.js'
import { decoded, rulesOf } from './decoded.js'

const BUY = 'tx-parser/pumpfun_buy_0.json'
const SELL = 'tx-parser/pumpfun_sell_0.json'
const BUYER = 'EfbbhahGNuhqEraRZXrwETfsaKxScngEttdQixWAW4WE'
const COIN = 'D66sbPtYqLnwPYcUqjDktrQtb52CnfF77C3sdpNpR8Si'
const CURVE = 'DizioTk7HKkYcVjiKuB6wdFXtGSisGX57mwG9PFwxXxm'

const typesOf = (events: readonly Event[]) => events.map(({ type }) => type)

describe.skipIf(!HAS_REAL)('a block of Solana', () => {
  const buy = () =>
    structuredClone(realTransaction(BUY).value) as { meta: Record<string, unknown> } & Record<string, unknown>

  it('tells whole events in the order of execution', () => {
    const { value, slot } = realTransaction(BUY)
    const { events, lost } = decoded(value, slot)
    expect(lost).toEqual([])
    const place = { tx_index: 0, log_index: 6, tx_hash: events[0]?.tx_hash }
    const token = { name: null, symbol: null, total_supply: null }
    expect(events).toEqual([
      { type: 'token', ...place, sub: 0, ...token, token: COIN, decimals: 6 },
      { type: 'token', ...place, sub: 1, ...token, token: WRAPPED_SOL, decimals: 9 },
      {
        type: 'pool',
        ...place,
        sub: 2,
        pool: CURVE,
        amm: 'pump',
        token0: COIN,
        token1: WRAPPED_SOL,
        fee: null,
        creator: null,
      },
      {
        ...{ type: 'swap', ...place, sub: 3, pool: CURVE, amm: 'pump', sender: BUYER, recipient: BUYER, wallet: BUYER },
        ...{ token_in: WRAPPED_SOL, amount_in: '3000000000', token_out: COIN, amount_out: '56716561396327' },
        ...{ reserve0: '472365121589393', reserve1: '12790764976', sqrt_price: '134160727169615088' },
        profile: {
          ...{
            token0TotalHolding: 56716561.396327,
            token1TotalHolding: 0,
            token0Address: COIN,
            token1Address: WRAPPED_SOL,
          },
          ...{ solTotalHolding: 579.755258979, token0HasNewAccount: true, token0HasClosedAccount: false },
          ...{ token0HasClearedAccount: false, token1HasNewAccount: false, token1HasClosedAccount: false },
          token1HasClearedAccount: false,
        },
      },
      {
        ...{ type: 'launch', ...place, sub: 4, token: COIN, platform: 'pump', stage: 'curve', pool: CURVE },
        progress: expect.closeTo(1 - 472365121589393 / 793_100_000_000_000, 8),
      },
      {
        type: 'balance',
        ...place,
        log_index: 14,
        sub: 0,
        token: COIN,
        holder: BUYER,
        delta: null,
        balance: '56716561396327',
      },
      {
        type: 'balance',
        ...place,
        log_index: 14,
        sub: 1,
        token: COIN,
        holder: CURVE,
        delta: null,
        balance: '679265121589393',
      },
    ])
  })

  it('has the trader as its wallet, whoever pays the fee', () => {
    const { value, slot } = realTransaction('fixtures/launchlab-sell.json')
    const swap = decoded(value, slot).events.find(({ type }) => type === 'swap')
    const seller = '4HT82cKYaHYxbbk6PhsjiXETqchXzusLEWrJEUZJhfvr'
    expect(swap).toMatchObject({
      ...{ amm: 'launchlab', sender: seller, recipient: seller, wallet: seller },
      ...{ amount_in: '1619386466406', amount_out: '11811180', reserve0: '521279866823882', reserve1: '1496795322' },
      profile: { token0TotalHolding: 0, token0HasClearedAccount: true, solTotalHolding: 0.054559143 },
    })
  })

  it('announces a pool and its tokens once, and a balance when it changed', () => {
    const book = memoryBook()
    const { value, slot } = realTransaction(BUY)
    decodeSolanaBlock(slot, [{ index: 0, value }], book, rulesOf())
    const again = decodeSolanaBlock(slot + 1, [{ index: 3, value }], book, rulesOf())
    expect(typesOf(again.events)).toEqual(['swap', 'launch'])
    expect(again.events[0]).toMatchObject({ tx_index: 3, log_index: 6, sub: 0 })
  })

  it('follows balances of tokens traded here in transactions that trade nothing', () => {
    const book = memoryBook()
    const { value, slot } = realTransaction(BUY)
    decodeSolanaBlock(slot, [{ index: 0, value }], book, rulesOf())
    const later = buy() as unknown as {
      meta: { postTokenBalances: { owner: string; uiTokenAmount: { amount: string } }[]; innerInstructions: unknown[] }
      transaction: { message: { accountKeys: string[]; instructions: unknown[] } }
    }
    // The same accounts, without the program: a plain transfer.
    later.transaction.message.accountKeys = later.transaction.message.accountKeys.map((account) =>
      account.startsWith('6EF8') ? 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' : account,
    )
    for (const balance of later.meta.postTokenBalances) if (balance.owner === BUYER) balance.uiTokenAmount.amount = '7'
    const { events } = decodeSolanaBlock(slot + 1, [{ index: 0, value: later }], book, rulesOf())
    expect(events).toMatchObject([{ type: 'balance', token: COIN, holder: BUYER, balance: '7' }])
  })

  it('tells SOL as lamports and wrapped together, where it is asked for', () => {
    const { value, slot } = realTransaction(BUY)
    const { events } = decoded(value, slot, rulesOf({ balances: 'all' }))
    const sol = events.filter((event) => event.type === 'balance' && event.token === WRAPPED_SOL)
    expect(sol).toContainEqual(expect.objectContaining({ holder: BUYER, balance: '579755258979' }))
    expect(typesOf(decoded(value, slot, rulesOf({ balances: 'off' })).events)).not.toContain('balance')
  })

  it('leaves out what is not in scope', () => {
    const { value, slot } = realTransaction(BUY)
    const none = [
      rulesOf({ amms: new Set(['orca']) }),
      rulesOf({ tokens: new Set([BUYER]) }),
      rulesOf({ pools: new Set([BUYER]) }),
    ]
    for (const rules of none) expect(decoded(value, slot, rules).events).toEqual([])
    for (const scope of [{ amms: new Set(['pump']) }, { tokens: new Set([COIN]) }, { pools: new Set([CURVE]) }])
      expect(typesOf(decoded(value, slot, rulesOf(scope)).events)).toContain('swap')
  })

  it('one bad transaction takes nothing from the others', () => {
    const bad = buy()
    bad.meta = { ...bad.meta, logMessages: 7 }
    const transactions = [realTransaction(SELL).value, bad, realTransaction(BUY).value, 'garbage', null]
    const { events, lost } = decodeSolanaBlock(
      1,
      transactions.map((value, index) => ({ index, value })),
      memoryBook(),
      rulesOf(),
    )
    expect(events.flatMap((event) => (event.type === 'swap' ? [event.tx_index] : []))).toEqual([0, 2])
    expect(lost.map(({ reason, txIndex }) => [reason, txIndex])).toEqual([
      ['bad_transaction', 1],
      ['bad_transaction', 3],
      ['bad_transaction', 4],
    ])
  })
})

describe.skipIf(!HAS_REAL)('bodies of nodes', () => {
  const { value } = HAS_REAL ? realTransaction(BUY) : { value: {} as Record<string, unknown> }
  const block = { blockhash: 'h', parentSlot: 41, previousBlockhash: 'p', transactions: [value, value] }

  it.each<[string, unknown, Partial<ReturnType<typeof readBodies>[number]>]>([
    ['getTransaction', { jsonrpc: '2.0', id: 1, result: { ...value, slot: 42 } }, { slot: 42, hash: null }],
    ['getBlock', { jsonrpc: '2.0', id: 1, result: block }, { slot: 42, isSlotGuessed: true, hash: 'h' }],
    ['a block beside its slot', { slot: 44, block }, { slot: 44, isSlotGuessed: false, hash: 'h' }],
    [
      'blockSubscribe',
      {
        method: 'blockNotification',
        params: { subscription: 1, result: { context: { slot: 44 }, value: { slot: 44, err: null, block } } },
      },
      { slot: 44, isSlotGuessed: false, hash: 'h' },
    ],
  ])('%s', (_, body, expected) => {
    const [read] = readBodies([body])
    expect(read).toMatchObject(expected)
    expect(read?.transactions.map(({ index }) => index)).toEqual(expected.hash === 'h' ? [0, 1] : [0])
  })

  it('a skipped slot has none; an error or half a block is told', () => {
    expect(() => readBodies({ jsonrpc: '2.0', id: 1, result: null })).toThrow('result is null: the node has no such')
    expect(() => readBodies({ jsonrpc: '2.0', id: 1, error: { code: -32007, message: 'Slot 1 was skipped' } })).toThrow(
      /skipped/,
    )
    expect(() => readBodies({ result: { blockhash: 'h', parentSlot: 1, signatures: ['s'] } })).toThrow(
      /transactionDetails/,
    )
    expect(() => readBodies('This is a broken data file')).toThrow(/no transaction/)
    expect(() => readBodies({ transaction: {}, meta: {} })).toThrow(/slot must be/)
  })
})
