import { describe, expect, it } from 'vitest'
import type { KnownContract } from '../../../../../services/core/domain/exchanges.js'
import type { Event } from '../../../../../services/core/domain/records.js'
import { memoryBook } from '../../../../../services/ingest/decode/evm/block/book.js'
import { decodeBlock } from '../../../../../services/ingest/decode/evm/block/decode-block.js'
import { createRules } from '../../../../../services/ingest/decode/evm/block/decode-rules.js'
import {
  atBlock,
  nothingPrefetched,
  ofHolder,
  type Prefetched,
} from '../../../../../services/ingest/decode/evm/block/prefetched.js'
import type { EvmLog } from '../../../../../services/ingest/decode/evm/log.js'
import { PROTOCOLS } from '../../../../../services/ingest/decode/evm/protocols.js'
import type { Scope } from '../../../../../services/ingest/decode/scope.js'
import { address, FACTORY, makeLog, POOL, TOKEN0, TOKEN1, venue } from '../rig.js'

const [ALICE, BOB, SIGNER, ZERO] = [address(0xa11ce), address(0xb0b), address(0x516e), address(0)]
const [COIN, WETH] = [address(0x7002), address(0xe7)]
const SYNC = 'Sync(uint112,uint112)'
const SWAP = 'Swap(address,uint256,uint256,uint256,uint256,address)'
const EXCHANGE = 'TokenExchange(address,int128,uint256,int128,uint256)'
const TRANSFER = 'Transfer(address,address,uint256)'

const PAIRS: KnownContract[] = [{ address: FACTORY, protocol: 'uniswap-v2', amm: 'uniswapv2', fee: 3000 }]

function rules(scope: Partial<Scope> = {}, contracts = PAIRS) {
  const all: Scope = { pools: new Set(), tokens: new Set(), amms: new Set(), balances: 'off', ...scope }
  return createRules({
    ...{ chain: 'eth', money: new Set([TOKEN1]), protocols: PROTOCOLS, contracts, wrappedNative: WETH, scope: all },
  })
}

function block(logs: readonly EvmLog[], number = 1) {
  const senders = new Map(logs.map(({ txHash }) => [txHash, SIGNER]))
  return { number, hash: `0x${number}`, parentHash: '0x0', timeS: 1000 + number, logs, senders }
}

/** A holder's balance before a block. */
const heldBefore = (token: string, holder: string, number = 1) => atBlock(number, ofHolder(token, holder))

/** Each event's position and a short form of it. */
const summary = (events: readonly Event[]) =>
  events.map(({ type, tx_index, log_index, sub }) => `${type} ${tx_index}:${log_index}:${sub}`)

const pairKnown = (): Prefetched => ({
  ...nothingPrefetched(),
  venues: new Map([
    [POOL, { venue: venue('uniswap-v2'), state: { reserves: [5n, 5n], unclaimed: null } as { reserves: bigint[] } }],
  ]),
  tokens: new Map([[TOKEN0, { name: 'Zero', symbol: 'Z', decimals: 6, totalSupply: 9n }]]),
})

const swapLogs = (tx: number, log: number) => [
  makeLog(SYNC, [], [70, 30], { tx, log }),
  makeLog(SWAP, [ALICE, BOB], [10, 0, 0, 4], { tx, log: log + 1 }),
]

describe('a pool whose creation was not seen', () => {
  it('is published once, at the block’s start, with the token facts that could be read', () => {
    const book = memoryBook()
    const { events, lost } = decodeBlock(block(swapLogs(3, 7)), book, pairKnown(), rules())
    expect(lost).toEqual([])
    expect(summary(events)).toEqual(['token 0:0:0', 'token 0:0:1', 'pool 0:0:2', 'swap 3:8:0'])
    expect(events[0]).toMatchObject({ token: TOKEN0, symbol: 'Z', decimals: 6, total_supply: '9' })
    expect(events[1]).toMatchObject({ token: TOKEN1, symbol: null, decimals: null, total_supply: null })
    expect(events[3]).toMatchObject({
      ...{ pool: POOL, sender: ALICE, recipient: BOB, wallet: SIGNER, token_in: TOKEN0, amount_in: '10' },
      ...{ token_out: TOKEN1, amount_out: '4', reserve0: '70', reserve1: '30', sqrt_price: null },
    })
    const again = decodeBlock(block(swapLogs(0, 0), 2), book, nothingPrefetched(), rules())
    expect(summary(again.events)).toEqual(['swap 0:1:0'])
  })

  it('is published once with the reserves read, at a log that changes nothing', () => {
    const book = memoryBook()
    const still = (log: number) => [makeLog(SYNC, [], [5, 5], { tx: 3, log })]
    const { events } = decodeBlock(block(still(7)), book, pairKnown(), rules())
    expect(summary(events)).toEqual(['token 0:0:0', 'token 0:0:1', 'pool 0:0:2', 'liquidity 3:7:0'])
    expect(events[3]).toMatchObject({ kind: 'add', amount0: '0', amount1: '0', reserve0: '5', reserve1: '5' })
    expect(decodeBlock(block(still(0), 2), book, nothingPrefetched(), rules()).events).toEqual([])
  })

  it('gets a free position if its first log has position 0: no two events share a position', () => {
    const first = [makeLog(SWAP, [ALICE, BOB], [10, 0, 0, 4], { tx: 0, log: 0 })]
    const { events } = decodeBlock(block(first), memoryBook(), pairKnown(), rules())
    expect(summary(events)).toEqual(['token 0:0:0', 'token 0:0:1', 'pool 0:0:2', 'swap 0:0:3'])
  })

  it.each([
    ['another exchange', { amms: new Set(['sushiswap']) }],
    ['other tokens', { tokens: new Set([COIN]) }],
  ])('is skipped if the scope asks for %s', (_name, scope) => {
    expect(decodeBlock(block(swapLogs(0, 0)), memoryBook(), pairKnown(), rules(scope)).events).toEqual([])
  })

  it('is a dead letter if it is configured and cannot be described', () => {
    const prefetched = { ...nothingPrefetched(), venues: new Map([[POOL, { refused: 'no pool' }]]) }
    const { lost } = decodeBlock(block(swapLogs(0, 0)), memoryBook(), prefetched, rules({ pools: new Set([POOL]) }))
    expect(lost.map(({ reason, detail }) => [reason, detail])).toContainEqual(['pool_undescribed', 'no pool'])
  })

  it('is a dead letter if its exchange is in scope and its tokens cannot be read', () => {
    const lostIn = (scope: Partial<Scope>) => {
      const prefetched = {
        ...nothingPrefetched(),
        venues: new Map([[POOL, { refused: 'no key', isOurs: true as const }]]),
      }
      const { lost } = decodeBlock(block(swapLogs(0, 0)), memoryBook(), prefetched, rules(scope))
      return lost.map(({ detail }) => detail)
    }
    expect(lostIn({})).toEqual(['no key'])
    expect(lostIn({ amms: new Set(['sushiswap']) })).toEqual([])
    expect(lostIn({ tokens: new Set([COIN]) })).toEqual([])
    expect(lostIn({ pools: new Set([COIN]) })).toEqual([])
  })
})

it('a graduation names the pool of the block that received its liquidity', () => {
  const curve = venue('four-meme', { id: `${TOKEN0}_fo`, facts: { manager: FACTORY } })
  const prefetched = pairKnown()
  prefetched.venues.set(curve.id, { venue: curve, state: { reserves: [0n, 24n] } })
  const manager = [{ address: FACTORY, protocol: 'four-meme', amm: 'fourmeme' }]
  const added = makeLog('LiquidityAdded(address,uint256,address,uint256)', [], [TOKEN0, 200, TOKEN1, 24], {
    address: FACTORY,
    log: 2,
  })
  const logs = [
    makeLog(SYNC, [], [200, 24], { log: 0 }),
    makeLog('Mint(address,uint256,uint256)', [FACTORY], [200, 24], { log: 1 }),
    added,
  ]
  const poolOf = (of: readonly EvmLog[]) =>
    decodeBlock(block(of), memoryBook(), prefetched, rules({}, manager)).events.find(({ type }) => type === 'launch')
  expect(poolOf(logs)).toMatchObject({ stage: 'graduated', pool: POOL })
  expect(poolOf([added])).toMatchObject({ stage: 'graduated', pool: expect.not.stringMatching(POOL) })
})

it('an undescribed pool of a singleton is a dead letter only if its exchange is in scope', () => {
  const [manager, id] = [address(0x4444), `0x${'ab'.repeat(32)}`]
  const contracts = [{ address: manager, protocol: 'uniswap-v4', amm: 'uniswapv4' }]
  const log = makeLog('Donate(bytes32,address,uint256,uint256)', [id, 0], [0, 1], { address: manager })
  const lostWith = (scope: Partial<Scope>, isOurs?: true) => {
    const all: Scope = { pools: new Set(), tokens: new Set(), amms: new Set(), balances: 'off', ...scope }
    const options = { chain: 'eth', money: new Set<string>(), protocols: PROTOCOLS, wrappedNative: WETH }
    const refusal = { refused: 'no key', ...(isOurs === undefined ? {} : { isOurs }) }
    const prefetched = { ...nothingPrefetched(), venues: new Map([[id, refusal]]) }
    const { lost } = decodeBlock(
      block([log]),
      memoryBook(),
      prefetched,
      createRules({ ...options, contracts, scope: all }),
    )
    return lost.map(({ reason, detail }) => [reason, detail])
  }
  const letter = [['pool_undescribed', 'no key']]
  expect([lostWith({}, true), lostWith({ amms: new Set(['uniswapv4']) }, true)]).toEqual([letter, letter])
  const elsewhere = [{ amms: new Set(['uniswapv3']) }, { tokens: new Set([COIN]) }, { pools: new Set([POOL]) }]
  expect(elsewhere.flatMap((scope) => lostWith(scope, true))).toEqual([])
  expect(lostWith({})).toEqual([])
})

describe('a pool created in the block', () => {
  const CREATED = 'PairCreated(address,address,address,uint256)'
  const creation = [
    makeLog(CREATED, [TOKEN0, TOKEN1], [POOL, 1], { address: FACTORY, log: 0 }),
    makeLog(SYNC, [], [70, 30], { log: 1 }),
    makeLog('Mint(address,uint256,uint256)', [ALICE], [70, 30], { log: 2 }),
  ]
  it('is published at its own log, and its first liquidity creates it', () => {
    const book = memoryBook()
    const { events } = decodeBlock(block(creation), book, nothingPrefetched(), rules())
    expect(summary(events)).toEqual(['token 0:0:0', 'token 0:0:1', 'pool 0:0:2', 'liquidity 0:2:0'])
    expect(events[3]).toMatchObject({ kind: 'create', amount0: '70', amount1: '30', reserve0: '70', reserve1: '30' })
    const more = [
      makeLog(SYNC, [], [80, 35], { log: 1 }),
      makeLog('Mint(address,uint256,uint256)', [ALICE], [10, 5], { log: 2 }),
    ]
    expect(decodeBlock(block(more, 2), book, nothingPrefetched(), rules()).events).toMatchObject([{ kind: 'add' }])
  })

  it('is ignored if another contract emits the creation', () => {
    const foreign = creation.map((log) => (log.address === FACTORY ? { ...log, address: ALICE } : log))
    expect(decodeBlock(block(foreign), memoryBook(), nothingPrefetched(), rules()).events).toEqual([])
  })
})

describe('a venue of three tokens', () => {
  const three = venue('curve', {
    tokens: [TOKEN0, TOKEN1, COIN],
    facts: { numbering: 'uint256', isCrypto: false },
  })
  const read = (number: number, reserves: bigint[]): Prefetched => ({
    ...nothingPrefetched(),
    venues: new Map([[POOL, { venue: three, state: { reserves: null } }]]),
    reserves: new Map([[atBlock(number, POOL), reserves]]),
  })

  it('is a pair for each two tokens traded, and a trade updates the reserves of the other pairs', () => {
    const book = memoryBook()
    const logs = [
      makeLog(EXCHANGE, [ALICE], [0, 100, 1, 99], { log: 0 }),
      makeLog(EXCHANGE, [ALICE], [2, 50, 0, 49], { tx: 1, log: 1 }),
    ]
    const { events } = decodeBlock(block(logs), book, read(1, [1000n, 2000n, 3000n]), rules())
    const pools = events.flatMap((event) => ('pool' in event && event.pool !== null ? [[event.type, event.pool]] : []))
    expect(pools).toEqual([
      ['pool', `${POOL}_0_1`],
      ['swap', `${POOL}_0_1`],
      ['pool', `${POOL}_0_2`],
      ['swap', `${POOL}_0_2`],
      ['liquidity', `${POOL}_0_1`],
    ])
    // Only the last event of the block has the reserves read at its end.
    expect(events.filter(({ type }) => type === 'swap')).toMatchObject([
      { token_in: TOKEN0, token_out: TOKEN1, reserve0: null, reserve1: null },
      { token_in: COIN, token_out: TOKEN0, reserve0: '1000', reserve1: '3000' },
    ])
    expect(events.at(-1)).toMatchObject({ amount0: '0', amount1: '0', reserve0: '1000', reserve1: '2000' })
  })
})

describe('balances', () => {
  const transfer = (from: string, to: string, amount: number, log: number, token = TOKEN0) =>
    makeLog(TRANSFER, [from, to], [amount], { address: token, log })
  const balancesOf = (events: readonly Event[]) =>
    events.flatMap((event) => (event.type === 'balance' ? [[event.holder, event.delta ?? `=${event.balance}`]] : []))

  it('are absolute at first and changes from then on', () => {
    const book = memoryBook()
    const prefetched: Prefetched = {
      ...nothingPrefetched(),
      balances: new Map([
        [heldBefore(TOKEN0, ALICE), 100n],
        [heldBefore(TOKEN0, BOB), 0n],
      ]),
    }
    const logs = [transfer(ALICE, BOB, 30, 0), transfer(BOB, ALICE, 5, 1)]
    const { events } = decodeBlock(block(logs), book, prefetched, rules({ balances: 'all' }))
    expect(events[0]).toMatchObject({ type: 'token', token: TOKEN0 })
    expect(balancesOf(events)).toEqual([
      [ALICE, '=70'],
      [BOB, '=30'],
      [BOB, '-5'],
      [ALICE, '5'],
    ])
  })

  it('that contradict the token’s logs are published once consistent again, with earlier changes included', () => {
    const prefetched: Prefetched = { ...nothingPrefetched(), balances: new Map([[heldBefore(TOKEN0, ALICE), 0n]]) }
    const logs = [transfer(ALICE, BOB, 5, 0), transfer(BOB, ALICE, 12, 1)]
    const { events } = decodeBlock(block(logs), memoryBook(), prefetched, rules({ balances: 'all' }))
    expect(balancesOf(events)).toEqual([[ALICE, '=7']])
  })

  it('that could not be read are not published', () => {
    const { events } = decodeBlock(
      block([transfer(ALICE, BOB, 30, 0)]),
      memoryBook(),
      nothingPrefetched(),
      rules({ balances: 'all' }),
    )
    expect(balancesOf(events)).toEqual([])
  })

  it('a burn publishes the supply and the zero address’s balance from the contract, once', () => {
    const prefetched: Prefetched = {
      ...nothingPrefetched(),
      balances: new Map([[heldBefore(TOKEN0, ALICE), 100n]]),
      supplies: new Map([[atBlock(1, TOKEN0), { total: 900n, atZero: 0n }]]),
    }
    const burn = [transfer(ALICE, ZERO, 100, 0)]
    const { events } = decodeBlock(block(burn), memoryBook(), prefetched, rules({ balances: 'all' }))
    expect(balancesOf(events)).toEqual([[ALICE, '=0']])
    expect(events.at(-1)).toMatchObject({ type: 'meta', total_supply: '900' })
  })

  it('wrapping the native coin counts once, by its own logs or a Transfer next to them', () => {
    const deposit = (log: number) => makeLog('Deposit(address,uint256)', [ALICE], [40], { address: WETH, log })
    const prefetched = (): Prefetched => ({
      ...nothingPrefetched(),
      balances: new Map([[heldBefore(WETH, ALICE), 0n]]),
    })
    const alone = decodeBlock(block([deposit(0)]), memoryBook(), prefetched(), rules({ balances: 'all' }))
    expect(balancesOf(alone.events)).toEqual([[ALICE, '=40']])
    const both = [transfer(ZERO, ALICE, 40, 0, WETH), deposit(1)]
    expect(balancesOf(decodeBlock(block(both), memoryBook(), prefetched(), rules({ balances: 'all' })).events)).toEqual(
      [[ALICE, '=40']],
    )
  })

  it('in a scope: only traded tokens that are not quote tokens, from the block after their pool was first seen', () => {
    const book = memoryBook()
    const prefetched: Prefetched = {
      ...pairKnown(),
      balances: new Map([
        [heldBefore(TOKEN0, ALICE), 9n],
        [heldBefore(TOKEN1, ALICE), 9n],
        [heldBefore(TOKEN0, ALICE, 2), 9n],
      ]),
    }
    const logs = [...swapLogs(0, 0), transfer(ALICE, BOB, 1, 2)]
    const scoped = rules({ balances: 'scoped' })
    expect(balancesOf(decodeBlock(block(logs), book, prefetched, scoped).events)).toEqual([])
    const later = [transfer(ALICE, BOB, 1, 0), transfer(ALICE, BOB, 1, 1, TOKEN1), transfer(ALICE, BOB, 1, 2, COIN)]
    expect(balancesOf(decodeBlock(block(later, 2), book, prefetched, scoped).events)).toEqual([[ALICE, '=8']])
  })
})

describe('a log that does not match its topic', () => {
  it('is a dead letter if its pool is followed, and ignored if not', () => {
    const bad = { ...makeLog(SWAP, [ALICE, BOB], [1], { tx: 1, log: 5 }) }
    const { events, lost } = decodeBlock(block([...swapLogs(0, 0), bad]), memoryBook(), pairKnown(), rules())
    expect(summary(events).at(-1)).toBe('swap 0:1:0')
    expect(lost).toMatchObject([{ reason: 'bad_log', log: bad }])
    const strange = { ...bad, address: ALICE }
    expect(decodeBlock(block([strange]), memoryBook(), nothingPrefetched(), rules())).toEqual({ events: [], lost: [] })
  })
})
