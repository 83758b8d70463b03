/** Every protocol rejects a log truncated in its topics or data: it is never read as another event or skipped. */
import { describe, expect, it } from 'vitest'
import { topicOf } from '../../../../services/ingest/decode/evm/abi/keccak.js'
import { memoryBook } from '../../../../services/ingest/decode/evm/block/book.js'
import { decodeBlock } from '../../../../services/ingest/decode/evm/block/decode-block.js'
import { createRules } from '../../../../services/ingest/decode/evm/block/decode-rules.js'
import { nothingPrefetched } from '../../../../services/ingest/decode/evm/block/prefetched.js'
import type { EvmLog } from '../../../../services/ingest/decode/evm/log.js'
import { BadLog, type Protocol } from '../../../../services/ingest/decode/evm/protocol.js'
import { PROTOCOLS } from '../../../../services/ingest/decode/evm/protocols.js'
import type { VenueState } from '../../../../services/ingest/decode/evm/venue.js'
import { answerWith, chainOf, FACTORY, makeLog, POOL, TOKEN0, TOKEN1, venue, type Word } from './rig.js'

/** The event's name and types, `*` after indexed ones, with the values a decoder checks; others are 1. */
type Sample = [event: string, values?: Record<number, Word>]

const PRICE = 2n ** 96n
const PAIR_TRADES: Sample[] = [
  ['Swap(address*,uint256,uint256,uint256,uint256,address*)', { 1: 10n, 2: 0n, 3: 0n, 4: 9n }],
  ['Mint(address*,uint256,uint256)'],
  ['Burn(address*,uint256,uint256,address*)'],
]
const V3: Sample[] = [
  ['Initialize(uint160,int24)'],
  ['Mint(address,address*,int24*,int24*,uint128,uint256,uint256)'],
  ['Burn(address*,int24*,int24*,uint128,uint256,uint256)'],
  ['Collect(address*,address,int24*,int24*,uint128,uint128)'],
  ['CollectProtocol(address*,address*,uint128,uint128)'],
  ['Flash(address*,address*,uint256,uint256,uint256,uint256)'],
]
const V3_SWAP: Sample = ['Swap(address*,address*,int256,int256,uint160,uint128,int24)', { 2: 10n, 3: -9n, 4: PRICE }]
const V3_CREATED: Sample = ['PoolCreated(address*,address*,uint24*,int24,address)', { 0: TOKEN0, 1: TOKEN1, 4: POOL }]
const coinsOf = { 1: 0n, 3: 1n }

function curveSamples(coins: number): Sample[] {
  const list = `uint256[${coins}]`
  return [
    [`AddLiquidity(address*,${list},${list},uint256,uint256)`],
    [`AddLiquidity(address*,${list},uint256,uint256)`],
    [`AddLiquidity(address*,${list},uint256,uint256,uint256)`],
    [`RemoveLiquidity(address*,${list},${list},uint256)`],
    [`RemoveLiquidity(address*,${list},uint256)`],
    [`RemoveLiquidityImbalance(address*,${list},${list},uint256,uint256)`],
  ]
}

const SAMPLES: Record<string, Sample[]> = {
  'uniswap-v2': [
    ['PairCreated(address*,address*,address,uint256)', { 0: TOKEN0, 1: TOKEN1, 2: POOL }],
    ['Sync(uint112,uint112)'],
    ...PAIR_TRADES,
  ],
  solidly: [
    ['PoolCreated(address*,address*,bool*,address,uint256)', { 0: TOKEN0, 1: TOKEN1, 3: POOL }],
    ['PairCreated(address*,address*,bool,address,uint256)', { 0: TOKEN0, 1: TOKEN1, 3: POOL }],
    ['Sync(uint256,uint256)'],
    ['Swap(address*,address*,uint256,uint256,uint256,uint256)', { 2: 10n, 3: 0n, 4: 0n, 5: 9n }],
    ['Burn(address*,address*,uint256,uint256)'],
    ...PAIR_TRADES,
  ],
  'uniswap-v3': [V3_CREATED, V3_SWAP, ...V3],
  'pancake-v3': [
    V3_CREATED,
    ['Swap(address*,address*,int256,int256,uint160,uint128,int24,uint128,uint128)', { 2: 10n, 3: -9n, 4: PRICE }],
    ...V3,
  ],
  slipstream: [
    ['PoolCreated(address*,address*,int24*,address)', { 0: TOKEN0, 1: TOKEN1, 3: POOL }],
    V3_SWAP,
    ['CollectFees(address*,uint128,uint128)'],
    ...V3,
  ],
  algebra: [
    ['Pool(address*,address*,address)', { 0: TOKEN0, 1: TOKEN1, 2: POOL }],
    ['CustomPool(address*,address*,address*,address)', { 1: TOKEN0, 2: TOKEN1, 3: POOL }],
    V3_SWAP,
    ['Swap(address*,address*,int256,int256,uint160,uint128,int24,uint24,uint24)', { 2: 10n, 3: -9n, 4: PRICE }],
    ['Burn(address*,int24*,int24*,uint128,uint256,uint256,uint24)'],
    ...V3,
  ],
  'uniswap-v4': [
    [
      'Initialize(bytes32*,address*,address*,uint24,int24,address,uint160,int24)',
      { 1: TOKEN0, 2: TOKEN1, 5: 0n, 6: PRICE, 7: 0n },
    ],
    ['Swap(bytes32*,address*,int128,int128,uint160,uint128,int24,uint24)', { 2: -10n, 3: 9n, 4: PRICE }],
    ['ModifyLiquidity(bytes32*,address*,int24,int24,int256,bytes32)', { 2: -10n, 3: 10n }],
    ['Donate(bytes32*,address*,uint256,uint256)'],
    ['ProtocolFeeUpdated(bytes32*,uint24)'],
  ],
  curve: [
    ['TokenExchange(address*,int128,uint256,int128,uint256)', coinsOf],
    ['TokenExchange(address*,uint256,uint256,uint256,uint256)', coinsOf],
    ['TokenExchange(address*,uint256,uint256,uint256,uint256,uint256)', coinsOf],
    ['TokenExchange(address*,uint256,uint256,uint256,uint256,uint256,uint256)', coinsOf],
    ['TokenExchangeUnderlying(address*,int128,uint256,int128,uint256)', coinsOf],
    ...[2, 3, 4].flatMap(curveSamples),
    ['AddLiquidity(address*,uint256[],uint256[],uint256,uint256)'],
    ['RemoveLiquidity(address*,uint256[],uint256[],uint256)'],
    ['RemoveLiquidityImbalance(address*,uint256[],uint256[],uint256,uint256)'],
    ['RemoveLiquidityImbalance(address*,uint256,uint256[2],uint256,uint256)'],
    ['ClaimAdminFee(address*,uint256)'],
    ['ClaimAdminFee(address*,uint256[2])'],
    ['ClaimAdminFee(address*,uint256[3])'],
    ['RemoveLiquidityOne(address*,uint256,uint256)'],
    ['RemoveLiquidityOne(address*,uint256,uint256,uint256)'],
    ['RemoveLiquidityOne(address*,int128,uint256,uint256,uint256)'],
    ['RemoveLiquidityOne(address*,uint256,uint256,uint256,uint256,uint256)'],
  ],
  balancer: [
    ['TokensRegistered(bytes32*,address[],address[])'],
    ['Swap(bytes32*,address*,address*,uint256,uint256)', { 1: TOKEN0, 2: TOKEN1 }],
    ['PoolBalanceChanged(bytes32*,address*,address[],int256[],uint256[])'],
    ['PoolBalanceManaged(bytes32*,address*,address*,int256,int256)', { 2: TOKEN0 }],
  ],
  'balancer-v3': [
    ['Swap(address*,address*,address*,uint256,uint256,uint256,uint256)', { 1: TOKEN0, 2: TOKEN1 }],
    ['LiquidityAdded(address*,address*,uint8*,uint256,uint256[],uint256[])'],
    ['LiquidityRemoved(address*,address*,uint8*,uint256,uint256[],uint256[])'],
  ],
  'liquidity-book': [
    ['LBPairCreated(address*,address*,uint256*,address,uint256)', { 0: TOKEN0, 1: TOKEN1, 3: POOL }],
    ['Swap(address*,address*,uint24,bytes32,bytes32,uint24,bytes32,bytes32)', { 4: 9n << 128n, 6: 0n, 7: 0n }],
    ['DepositedToBins(address*,address*,uint256[],bytes32[])'],
    ['WithdrawnFromBins(address*,address*,uint256[],bytes32[])'],
    ['FlashLoan(address*,address*,uint24,bytes32,bytes32,bytes32)'],
    ['Swap(address*,address*,uint256*,bool,uint256,uint256,uint256,uint256)'],
    ['DepositedToBin(address*,address*,uint256*,uint256,uint256)'],
    ['WithdrawnFromBin(address*,address*,uint256*,uint256,uint256)'],
  ],
  'four-meme': [
    ['TokenCreate(address,address,uint256,string,string,uint256,uint256,uint256)'],
    ['TokenPurchase(address,address,uint256,uint256,uint256,uint256,uint256,uint256)'],
    ['TokenSale(address,address,uint256,uint256,uint256,uint256,uint256,uint256)'],
    ['TradeStop(address)'],
    ['LiquidityAdded(address,uint256,address,uint256)'],
    ['TokenCreate(address,address,uint256,string,string,uint256,uint256)'],
    ['TokenPurchase(address,address,uint256,uint256,uint256)'],
    ['TokenPurchase(address,address,uint256,uint256)'],
    ['TokenSale(address,address,uint256,uint256,uint256)'],
    ['TokenSale(address,address,uint256,uint256)'],
  ],
}

const signatureOf = (event: string): string => event.replaceAll('*', '')

/** Lists have one item per token; strings are longer than a word. */
function logOf([event, values = {}]: Sample): EvmLog {
  const types = event.slice(event.indexOf('(') + 1, -1).split(',')
  const indexed: Word[] = []
  const head: (Word | { tail: Word[] })[] = []
  for (const [at, type] of types.entries()) {
    const value = values[at] ?? 1n
    const fixed = /\[(\d)\]$/.exec(type)?.[1]
    if (type.endsWith('*')) indexed.push(value)
    else if (type === 'address[]') head.push({ tail: [2, TOKEN0, TOKEN1] })
    else if (type.endsWith('[]')) head.push({ tail: [2, 1n, 1n] })
    else if (type === 'string')
      head.push({ tail: [40, `0x${'61'.repeat(32)}`, `0x${'61'.repeat(8)}${'00'.repeat(24)}`] })
    else for (let item = 0; item < Number(fixed ?? 1); item += 1) head.push(value)
  }
  const tails: Word[] = []
  const words = head.map((item): Word => {
    if (typeof item !== 'object') return item
    const offset = 32 * (head.length + tails.length)
    tails.push(...item.tail)
    return offset
  })
  return makeLog(signatureOf(event), indexed, [...words, ...tails])
}

/** What the block decoder asks a protocol about one log. */
function read(protocol: Protocol, log: EvmLog, tokens: number): unknown {
  const [topic = ''] = log.topics
  const chain = chainOf(protocol.name)
  const made = protocol.creationTopics.includes(topic)
    ? protocol.created(log, { address: FACTORY, protocol: protocol.name, amm: 'test' }, chain)
    : null
  if (!protocol.topics.includes(topic)) return made
  const at = venue(protocol.name, {
    tokens: [TOKEN0, TOKEN1, `0x${'3'.repeat(40)}`, `0x${'4'.repeat(40)}`].slice(0, tokens),
  })
  expect(protocol.venueOf(log)).not.toBeNull()
  const unread = answerWith(protocol.readState(at, chain), () => null)
  const priced = 'sqrtPrice' in unread ? Object.assign(unread, { sqrtPrice: PRICE }) : unread
  return protocol.apply(log, at, priced)
}

function cutsOf(log: EvmLog): EvmLog[] {
  const byTopics = log.topics.slice(1).map((_, last) => ({ ...log, topics: log.topics.slice(0, last + 1) }))
  const bytes = (log.data.length - 2) / 2
  const byData = Array.from({ length: bytes }, (_, kept) => ({ ...log, data: log.data.slice(0, 2 + kept * 2) }))
  return [...byTopics, ...byData]
}

describe.each(PROTOCOLS.map((protocol) => [protocol.name, protocol] as const))('%s', (name, protocol) => {
  const samples = SAMPLES[name] ?? []

  it('has a sample of each of its logs', () => {
    const topics = samples.map(([event]) => topicOf(signatureOf(event)))
    expect(new Set(topics)).toEqual(new Set([...protocol.topics, ...protocol.creationTopics]))
  })

  it.each(samples)('%s', (event, values) => {
    const log = logOf([event, values ?? {}])
    const tokens = Number(/uint256\[(\d)\]/.exec(event)?.[1] ?? 2)
    expect(() => read(protocol, log, tokens)).not.toThrow()
    for (const cut of cutsOf(log)) {
      const what = `${cut.topics.length} topics, ${(cut.data.length - 2) / 2} bytes of data`
      expect(() => read(protocol, cut, tokens), what).toThrow(BadLog)
    }
  })
})

describe('logs next to a truncated one', () => {
  const [SYNC, TRADE] = ['Sync(uint112,uint112)', 'Swap(address,uint256,uint256,uint256,uint256,address)']
  const rules = createRules({
    ...{ chain: 'eth', money: new Set<string>(), protocols: PROTOCOLS, contracts: [], wrappedNative: undefined },
    scope: { pools: new Set(), tokens: new Set(), amms: new Set(), balances: 'off' },
  })
  /** A known venue with these reserves. */
  function decoded(protocol: string, state: object, logs: readonly EvmLog[]) {
    const book = memoryBook()
    for (const token of [TOKEN0, TOKEN1]) book.putToken(token, { traded: true })
    const known = { reserves: [5n, 5n], ...state } as VenueState
    book.putVenue(POOL, { venue: venue(protocol), state: known, pairs: [POOL], funded: null })
    const block = { number: 1, hash: '0x1', parentHash: '0x0', timeS: 1000, logs, senders: new Map<string, string>() }
    const { events, lost } = decodeBlock(block, book, nothingPrefetched(), rules)
    return { events, lost: lost.map(({ log, reason }) => [log.logIndex, reason]), state: book.venue(POOL)?.state }
  }
  const cut = (log: EvmLog): EvmLog => ({ ...log, data: log.data.slice(0, -64) })

  const [sync, swap] = [
    makeLog(SYNC, [], [70, 30], { log: 1 }),
    makeLog(TRADE, [TOKEN0, TOKEN1], [10, 0, 0, 4], { log: 2 }),
  ]

  it('a truncated Swap of a pair does not turn its Sync into a liquidity change', () => {
    const { events, lost, state } = decoded('uniswap-v2', { unclaimed: null }, [sync, cut(swap)])
    expect({ events, lost }).toEqual({ events: [], lost: [[2, 'bad_log']] })
    expect(state?.reserves).toEqual([70n, 30n])
  })

  it('a truncated Sync of a pair does not give its Swap the previous reserves', () => {
    const { events, lost } = decoded('uniswap-v2', { unclaimed: null }, [cut(sync), swap])
    expect(lost).toEqual([[1, 'bad_log']])
    expect(events).toMatchObject([{ type: 'swap', amount_in: '10', amount_out: '4', reserve0: null, reserve1: null }])
  })

  it('a swap over several bins is dropped whole if one of its logs is truncated', () => {
    const bin = (log: number) =>
      makeLog(
        'Swap(address,address,uint24,bytes32,bytes32,uint24,bytes32,bytes32)',
        [TOKEN0, TOKEN1],
        [8_388_608, 100n, 50n << 128n, 0, 0, 0],
        { log },
      )
    for (const at of [1, 2, 3]) {
      const logs = [1, 2, 3, 9].map((place) => (place === at ? cut(bin(place)) : bin(place)))
      const { events, lost } = decoded('liquidity-book', { open: null }, logs)
      expect(events).toMatchObject([{ type: 'swap', log_index: 9, amount_in: '100', amount_out: '50' }])
      expect(lost).toEqual([1, 2, 3].filter((place) => place >= at).map((place) => [place, 'bad_log']))
    }
  })
})
