/** four.meme: a token from its creation along the curve to Pancake. */
import { describe, expect, it } from 'vitest'
import type { EvmLog } from '../../../../../../services/ingest/decode/evm/log.js'
import { BadLog } from '../../../../../../services/ingest/decode/evm/protocol.js'
import { fourMeme } from '../../../../../../services/ingest/decode/evm/protocols/four-meme/four-meme.js'
import { address, answerWith, chainOf, makeLog, play, type Word, word } from '../../rig.js'

const MANAGER = '0x5c952063c7fc8610ffdb798152d69f0b9550762b'
const FIRST = '0xec4549cadce5da21df6e6422d448034b5233bfbc'
const WBNB = '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c'
const TOKEN = '0x366f446d2583fa4e703aa24721c820d5e5424444'
const [CREATOR, TRADER] = [address(0xc4), address(0x74)]
const MAX = 800_000_000n * 10n ** 18n
const CREATE = 'TokenCreate(address,address,uint256,string,string,uint256,uint256,uint256)'
const PURCHASE = 'TokenPurchase(address,address,uint256,uint256,uint256,uint256,uint256,uint256)'
const SALE = 'TokenSale(address,address,uint256,uint256,uint256,uint256,uint256,uint256)'
const words = (...values: Word[]): string => `0x${values.map(word).join('')}`

const chain = chainOf('four-meme', {
  wrappedNative: WBNB,
  contracts: new Map([[MANAGER, { address: MANAGER, protocol: 'four-meme', amm: 'fourmeme' }]]),
})
const at = {
  id: `${TOKEN}_fo`,
  protocol: 'four-meme',
  amm: 'fourmeme',
  tokens: [TOKEN, WBNB],
  fee: null,
  creator: null,
  facts: { manager: MANAGER, maxOffers: MAX.toString() },
}
const here = (log: number) => ({ address: MANAGER, log })
const created = makeLog(
  CREATE,
  [],
  [CREATOR, TOKEN, 7, 256, 320, 10n ** 27n, 1_700_000_000, 0, 3, '0x41'.padEnd(66, '0'), 1, 0],
  here(0),
)
/** A trade's words: price, amount, cost, fee, offers, funds. */
const trade = (signature: string, amount: bigint, cost: bigint, offers: bigint, funds: bigint, log: number) =>
  makeLog(signature, [], [TOKEN, TRADER, 1, amount, cost, cost / 100n, offers, funds], here(log))

it('decodes a token from creation to graduation', () => {
  const logs = [
    created,
    trade(PURCHASE, MAX / 4n, 10n ** 18n, (MAX * 3n) / 4n, 10n ** 18n, 1),
    trade(PURCHASE, 1000n, 20n, (MAX * 3n) / 4n - 1000n, 10n ** 18n + 20n, 2),
    trade(SALE, MAX / 8n, 10n ** 17n, (MAX * 7n) / 8n, 9n * 10n ** 17n, 3),
    trade(PURCHASE, (MAX * 7n) / 8n, 23n * 10n ** 18n, 0n, 24n * 10n ** 18n, 4),
    makeLog('TradeStop(address)', [], [TOKEN], here(5)),
    makeLog('LiquidityAdded(address,uint256,address,uint256)', [], [TOKEN, MAX / 4n, 0, 24n * 10n ** 18n], here(6)),
  ]
  const { state, events } = play(fourMeme, at, { reserves: null }, logs)
  const launch = { kind: 'launch', platform: 'fourmeme', token: TOKEN, pool: at.id, reserves: null }
  const swap = { kind: 'swap', sender: TRADER, recipient: TRADER }
  expect(events).toEqual([
    { ...launch, log: logs[0], stage: 'created', progress: 0 },
    { kind: 'liquidity', change: 'add', log: logs[0], sender: CREATOR, amounts: [MAX, 0n], reserves: [MAX, 0n] },
    {
      ...swap,
      log: logs[1],
      tokenIn: 1,
      tokenOut: 0,
      amountIn: 10n ** 18n,
      amountOut: MAX / 4n,
      reserves: [(MAX * 3n) / 4n, 10n ** 18n],
    },
    { ...launch, log: logs[1], stage: 'curve', progress: 0.25 },
    {
      ...swap,
      log: logs[2],
      tokenIn: 1,
      tokenOut: 0,
      amountIn: 20n,
      amountOut: 1000n,
      reserves: [(MAX * 3n) / 4n - 1000n, 10n ** 18n + 20n],
    },
    {
      ...swap,
      log: logs[3],
      tokenIn: 0,
      tokenOut: 1,
      amountIn: MAX / 8n,
      amountOut: 10n ** 17n,
      reserves: [(MAX * 7n) / 8n, 9n * 10n ** 17n],
    },
    { ...launch, log: logs[3], stage: 'curve', progress: 0.125 },
    {
      ...swap,
      log: logs[4],
      tokenIn: 1,
      tokenOut: 0,
      amountIn: 23n * 10n ** 18n,
      amountOut: (MAX * 7n) / 8n,
      reserves: [0n, 24n * 10n ** 18n],
    },
    { ...launch, log: logs[4], stage: 'curve', progress: 1 },
    { ...launch, log: logs[5], stage: 'curve', progress: 1 },
    { kind: 'reserves', log: logs[6], sender: MANAGER, reserves: [0n, 0n] },
    { ...launch, log: logs[6], stage: 'graduated', progress: 1, pool: expect.stringMatching(/^0x[0-9a-f]{40}$/) },
  ])
  expect(state).toEqual({ reserves: [0n, 0n] })
})

it.each([
  ['with a fee field, as on chain', ',uint256', [1]],
  ['without one, as documented', '', []],
])('trades of the first manager have only amounts, %s', (_, field, fee) => {
  const first = (name: string, log: number) =>
    makeLog(`${name}(address,address,uint256,uint256${field})`, [], [TOKEN, TRADER, 500, 3, ...fee], here(log))
  const logs = [first('TokenPurchase', 0), first('TokenSale', 1)]
  const { events } = play(fourMeme, at, { reserves: null }, logs)
  const swap = { kind: 'swap', sender: TRADER, recipient: TRADER, reserves: null }
  expect(events).toEqual([
    { ...swap, log: logs[0], tokenIn: 1, tokenOut: 0, amountIn: 3n, amountOut: 500n },
    { ...swap, log: logs[1], tokenIn: 0, tokenOut: 1, amountIn: 500n, amountOut: 3n },
  ])
  expect(logs.map((log) => fourMeme.topics.includes(log.topics[0] ?? ''))).toEqual([true, true])
})

describe('a curve', () => {
  const info = (quote: string) =>
    words(TOKEN, quote, 0, 10n ** 27n, MAX, 24n * 10n ** 18n, 0, MAX / 2n, 5n * 10n ** 18n, 1, 1, 1, 0)

  it('is found by the token in every log', () => {
    expect(fourMeme.venueOf(created)).toBe(at.id)
    expect(fourMeme.venueOf(trade(SALE, 1n, 1n, 1n, 1n, 0))).toBe(at.id)
  })

  it('is quoted in the manager’s token, BNB as its wrapped token', () => {
    const describe = (quote: string) => answerWith(fourMeme.describe(at.id, created, chain), () => info(quote))
    expect(describe(address(0))).toEqual(at)
    expect(describe(address(0x05d))).toEqual({ ...at, tokens: [TOKEN, address(0x05d)] })
  })

  it('is rejected if the manager does not know it, or another contract emitted the log', () => {
    const nothing = () => words(0, 0, 0, 0, 0, 0, 0, 0, 0)
    const describe = (log: EvmLog, answer: () => string | null) =>
      answerWith(fourMeme.describe(at.id, log, chain), answer)
    expect(describe(created, nothing)).toHaveProperty('refused')
    expect(describe({ ...created, address: address(0xbad) }, () => info(address(0)))).toHaveProperty('refused')
    expect(answerWith(fourMeme.describe(TOKEN, created, chain), () => info(address(0)))).toHaveProperty('refused')
  })

  it('of the first manager is quoted in BNB, proven by its logs or by its answer', () => {
    const known = { address: FIRST, protocol: 'four-meme', amm: 'fourmeme' }
    const old = { ...chain, contracts: new Map([[FIRST, known]]) }
    const describe = (log: EvmLog, answer: string | null) =>
      answerWith(fourMeme.describe(at.id, { ...log, address: FIRST }, old), () => answer)
    const curve = { ...at, facts: { manager: FIRST } }
    expect(describe(created, null)).toEqual(curve)
    const sale = makeLog('TokenSale(address,address,uint256,uint256,uint256)', [], [TOKEN, TRADER, 500, 3, 1])
    expect(describe(sale, words(0))).toEqual(curve)
    const silent = { ...created, topics: [], data: '0x' }
    expect(describe(silent, words(true, 1_700_000_000, 1, 1, 5, 5, true, false, false))).toEqual(curve)
    expect(describe(silent, words(0))).toHaveProperty('refused')
  })

  it('whose creation was not seen gets the manager’s offer and funds', () => {
    expect(answerWith(fourMeme.readState(at, chain), () => info(address(0)))).toEqual({
      reserves: [MAX / 2n, 5n * 10n ** 18n],
    })
    expect(answerWith(fourMeme.readState(at, chain), () => null)).toEqual({ reserves: null })
  })

  it('ignores a trade of zero', () =>
    expect(() => fourMeme.apply(trade(SALE, 0n, 0n, 1n, 1n, 0), at, { reserves: null })).toThrow(BadLog))
})
