/** What a block's transactions decode to besides legs: announcements, profiles, balances, and what is skipped. */
import { describe, expect, it } from 'vitest'
import type { Event } from '../../../../../services/core/domain/records.js'
import { memoryBook } from '../../../../../services/ingest/decode/solana/block/book.js'
import { decodeSolanaBlock } from '../../../../../services/ingest/decode/solana/block/decode-block.js'
import { WRAPPED_SOL } from '../../../../../services/ingest/decode/solana/native-programs.js'
import { readBodies } from '../../../../../services/ingest/decode/solana/wire/parse-block.js'
import { describeRecorded } from '../../../../rig/recordings.js'
import { generatedTransaction, PUMP_BUY, PUMP_SELL } from '../../../../rig/solana/generated/transactions.js'
import { type RealTransaction, realTransaction } from '../real-transactions.js'
import { decoded, rulesOf } from './decoded.js'

const typesOf = (events: readonly Event[]) => events.map(({ type }) => type)

/** A buy of a coin on its curve, with its expected values. */
type Trade = {
  buy: RealTransaction
  sell: RealTransaction
  buyer: string
  coin: string
  curve: string
  /** Order of the buy instruction. */
  order: number
  /** The buyer’s lamports after the buy. */
  sol: string
  wholeEvents(txHash: string | undefined): unknown[]
}

function generatedTrade(): Trade {
  const { expected, ...buy } = generatedTransaction(PUMP_BUY)
  const [swap, launch] = expected
  if (swap?.type !== 'swap' || launch?.type !== 'launch') throw new Error('a buy is a swap and a launch')
  const { sender: buyer = '', token_out: coin = '', pool: curve = '' } = swap
  const { message } = buy.value.transaction
  const { loadedAddresses, innerInstructions, postBalances, postTokenBalances } = buy.value.meta
  const keys = [...message.accountKeys, ...(loadedAddresses?.writable ?? []), ...(loadedAddresses?.readonly ?? [])]
  const lamports = (postBalances as number[])[keys.indexOf(buyer)] ?? 0
  const held = (postTokenBalances as { owner: string; uiTokenAmount: { amount: string } }[]).map((each) => ({
    holder: each.owner,
    balance: each.uiTokenAmount.amount,
  }))
  const ownCoins = held.find(({ holder }) => holder === buyer)?.balance
  const callsOf = (at: number) => innerInstructions.find(({ index }) => index === at)?.instructions.length ?? 0
  // The buy runs last; an account may be opened before it.
  const before = message.instructions.slice(0, -1).reduce((sum, _, at) => sum + 1 + callsOf(at), 0)
  const end = before + 1 + callsOf(message.instructions.length - 1)
  const isOpened = before > 0
  return {
    ...{ buy, buyer, coin, curve, order: before, sol: `${lamports}` },
    sell: generatedTransaction(PUMP_SELL),
    wholeEvents(tx_hash) {
      const place = { tx_index: 0, log_index: before, tx_hash }
      const token = { name: null, symbol: null, total_supply: null }
      const balance = { type: 'balance', ...place, log_index: end, token: coin, delta: null }
      const never = { token0HasClosedAccount: false, token0HasClearedAccount: false, token1HasNewAccount: false }
      return [
        { type: 'token', ...place, sub: 0, ...token, token: coin, decimals: 6 },
        { type: 'token', ...place, sub: 1, ...token, token: WRAPPED_SOL, decimals: 9 },
        {
          ...{ type: 'pool', ...place, sub: 2, pool: curve, amm: 'pump', token0: coin, token1: WRAPPED_SOL, fee: null },
          creator: expect.any(String),
        },
        {
          ...{ ...swap, ...place, sub: 3, sqrt_price: expect.any(String) },
          profile: {
            ...{ token0TotalHolding: Number(ownCoins) / 1e6, token1TotalHolding: 0, token0Address: coin },
            ...{ token1Address: WRAPPED_SOL, solTotalHolding: lamports / 1e9, token0HasNewAccount: isOpened, ...never },
            ...{ token1HasClosedAccount: false, token1HasClearedAccount: false },
          },
        },
        { ...launch, ...place, sub: 4, progress: expect.closeTo(1 - Number(swap.reserve0) / 793.1e12, 8) },
        ...held.map((each, sub) => ({ ...balance, sub, ...each })),
      ]
    },
  }
}

function recordedTrade(): Trade {
  const BUYER = 'EfbbhahGNuhqEraRZXrwETfsaKxScngEttdQixWAW4WE'
  const COIN = 'D66sbPtYqLnwPYcUqjDktrQtb52CnfF77C3sdpNpR8Si'
  const CURVE = 'DizioTk7HKkYcVjiKuB6wdFXtGSisGX57mwG9PFwxXxm'
  return {
    ...{ buyer: BUYER, coin: COIN, curve: CURVE, order: 6, sol: '579755258979' },
    buy: realTransaction('tx-parser/pumpfun_buy_0.json'),
    sell: realTransaction('tx-parser/pumpfun_sell_0.json'),
    wholeEvents(tx_hash) {
      const place = { tx_index: 0, log_index: 6, tx_hash }
      const token = { name: null, symbol: null, total_supply: null }
      return [
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
          ...{
            type: 'swap',
            ...place,
            sub: 3,
            pool: CURVE,
            amm: 'pump',
            sender: BUYER,
            recipient: BUYER,
            wallet: BUYER,
          },
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
      ]
    },
  }
}

describe('a block of generated transactions', () => statesBlocks(generatedTrade()))
describeRecorded('a block of recorded transactions', 6, () => statesBlocks(recordedTrade()))

function statesBlocks({ buy: bought, sell, buyer, coin, curve, order, sol: lamports, wholeEvents }: Trade): void {
  const { value, slot } = bought
  const buy = () => structuredClone(value) as { meta: Record<string, unknown> } & Record<string, unknown>

  it('writes complete events in the order of execution', () => {
    const { events, lost } = decoded(value, slot)
    expect(lost).toEqual([])
    expect(events).toEqual(wholeEvents(events[0]?.tx_hash))
  })

  it('announces a pool and its tokens once, and a balance when it changed', () => {
    const book = memoryBook()
    decodeSolanaBlock(slot, [{ index: 0, value }], book, rulesOf())
    const again = decodeSolanaBlock(slot + 1, [{ index: 3, value }], book, rulesOf())
    expect(typesOf(again.events)).toEqual(['swap', 'launch'])
    expect(again.events[0]).toMatchObject({ tx_index: 3, log_index: order, sub: 0 })
  })

  it('follows balances of tokens traded here through transactions without trades', () => {
    const book = memoryBook()
    decodeSolanaBlock(slot, [{ index: 0, value }], book, rulesOf())
    const later = buy() as unknown as {
      meta: { postTokenBalances: { owner: string; uiTokenAmount: { amount: string } }[]; innerInstructions: unknown[] }
      transaction: { message: { accountKeys: string[]; instructions: unknown[] } }
    }
    // The same accounts, without the program: a plain transfer.
    later.transaction.message.accountKeys = later.transaction.message.accountKeys.map((account) =>
      account.startsWith('6EF8') ? 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' : account,
    )
    for (const balance of later.meta.postTokenBalances) if (balance.owner === buyer) balance.uiTokenAmount.amount = '7'
    const { events } = decodeSolanaBlock(slot + 1, [{ index: 0, value: later }], book, rulesOf())
    expect(events).toMatchObject([{ type: 'balance', token: coin, holder: buyer, balance: '7' }])
  })

  it('reports SOL as lamports plus wrapped SOL, if all balances are requested', () => {
    const { events } = decoded(value, slot, rulesOf({ balances: 'all' }))
    const sol = events.filter((event) => event.type === 'balance' && event.token === WRAPPED_SOL)
    expect(sol).toContainEqual(expect.objectContaining({ holder: buyer, balance: lamports }))
    expect(typesOf(decoded(value, slot, rulesOf({ balances: 'off' })).events)).not.toContain('balance')
  })

  it('skips what is not in scope', () => {
    const none = [
      rulesOf({ amms: new Set(['orca']) }),
      rulesOf({ tokens: new Set([buyer]) }),
      rulesOf({ pools: new Set([buyer]) }),
    ]
    for (const rules of none) expect(decoded(value, slot, rules).events).toEqual([])
    for (const scope of [{ amms: new Set(['pump']) }, { tokens: new Set([coin]) }, { pools: new Set([curve]) }])
      expect(typesOf(decoded(value, slot, rulesOf(scope)).events)).toContain('swap')
  })

  it('a bad transaction does not affect the others', () => {
    const bad = buy()
    bad.meta = { ...bad.meta, logMessages: 7 }
    const transactions = [sell.value, bad, value, 'garbage', null]
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
}

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

describe('node responses', () => {
  const { value } = generatedTransaction(PUMP_BUY)
  const block = { blockhash: 'h', parentSlot: 41, previousBlockhash: 'p', transactions: [value, value] }

  it.each<[string, unknown, Partial<ReturnType<typeof readBodies>[number]>]>([
    ['getTransaction', { jsonrpc: '2.0', id: 1, result: { ...value, slot: 42 } }, { slot: 42, hash: null }],
    ['getBlock', { jsonrpc: '2.0', id: 1, result: block }, { slot: 42, isSlotGuessed: true, hash: 'h' }],
    ['a block with its slot', { slot: 44, block }, { slot: 44, isSlotGuessed: false, hash: 'h' }],
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

  it('rejects a skipped slot, an error and an incomplete block', () => {
    expect(() => readBodies({ jsonrpc: '2.0', id: 1, result: null })).toThrow('result is null: the node has no such')
    expect(() => readBodies({ jsonrpc: '2.0', id: 1, error: { code: -32007, message: 'Slot 1 was skipped' } })).toThrow(
      /skipped/,
    )
    expect(() => readBodies({ result: { blockhash: 'h', parentSlot: 1, signatures: ['s'] } })).toThrow(
      /transactionDetails/,
    )
    expect(() => readBodies('This is a broken data file')).toThrow(/must be a transaction or a block/)
    expect(() => readBodies({ transaction: {}, meta: {} })).toThrow(/slot must be/)
  })
})
