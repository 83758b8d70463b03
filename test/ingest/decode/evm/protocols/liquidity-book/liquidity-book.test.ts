/** Liquidity Book pairs of all versions: bins joined to swaps, reserves equal to the pair's answers. */
import { describe, expect, it } from 'vitest'
import { selectorOf } from '../../../../../../services/ingest/decode/evm/abi/keccak.js'
import type { Call } from '../../../../../../services/ingest/decode/evm/protocol.js'
import { liquidityBook } from '../../../../../../services/ingest/decode/evm/protocols/liquidity-book/liquidity-book.js'
import {
  address,
  answerWith,
  chainOf,
  FACTORY,
  makeLog,
  POOL,
  play,
  TOKEN0,
  TOKEN1,
  venue,
  type Word,
  word,
} from '../../rig.js'

const [SENDER, TO] = [address(0x51), address(0x52)]
const at = venue('liquidity-book')
const packed = (x: bigint, y: bigint): bigint => (y << 128n) | x
const words = (...values: Word[]): string => `0x${values.map(word).join('')}`

const bin = (amountIn: bigint, amountOut: bigint, fees: bigint, protocolFees: bigint, log: number, to = TO, tx = 0) =>
  makeLog(
    'Swap(address,address,uint24,bytes32,bytes32,uint24,bytes32,bytes32)',
    [SENDER, to],
    [8_388_608, amountIn, amountOut, 7, fees, protocolFees],
    { log, tx },
  )
const bins = (name: string, amounts: readonly bigint[], log: number) =>
  makeLog(
    `${name}(address,address,uint256[],bytes32[])`,
    [SENDER, TO],
    [
      64,
      64 + 32 + 32 * amounts.length,
      amounts.length,
      ...amounts.map((_, place) => 8_388_608 + place),
      amounts.length,
      ...amounts,
    ],
    { log },
  )

describe('2.1 and 2.2', () => {
  it('joins the bins of one swap at its last log; the trader also pays the protocol fee', () => {
    const logs = [
      bin(packed(1000n, 0n), packed(0n, 500n), packed(10n, 0n), packed(2n, 0n), 4),
      bin(packed(300n, 0n), packed(0n, 140n), packed(3n, 0n), 0n, 5),
    ]
    const { state, events } = play(liquidityBook, at, { reserves: [10_000n, 10_000n], open: null }, logs)
    expect(events).toEqual([
      {
        kind: 'swap',
        log: logs[1],
        sender: SENDER,
        recipient: TO,
        tokenIn: 0,
        tokenOut: 1,
        amountIn: 1302n,
        amountOut: 640n,
        reserves: [11_300n, 9360n],
      },
    ])
    expect(state).toEqual({ reserves: [11_300n, 9360n], open: null })
  })

  it('keeps swaps apart by receiver, direction, transaction and logs between them', () => {
    const sell = (log: number, to = TO, tx = 0) => bin(packed(10n, 0n), packed(0n, 5n), 0n, 0n, log, to, tx)
    const buy = (log: number) => bin(packed(0n, 10n), packed(5n, 0n), 0n, 0n, log)
    const logs = [sell(0), sell(1, address(0x53)), sell(3), buy(4), sell(5, TO, 1), sell(6, TO, 1)]
    const { events } = play(liquidityBook, at, { reserves: [100n, 100n], open: null }, logs)
    expect(events.map((event) => [event.log.logIndex, event.reserves])).toEqual([
      [0, [110n, 95n]],
      [1, [120n, 90n]],
      [3, [130n, 85n]],
      [4, [125n, 95n]],
      [6, [145n, 85n]],
    ])
  })

  it('adds and removes liquidity over bins, and counts the fee of a flash loan', () => {
    const logs = [
      bins('DepositedToBins', [packed(10n, 0n), packed(5n, 7n)], 0),
      makeLog(
        'FlashLoan(address,address,uint24,bytes32,bytes32,bytes32)',
        [SENDER, TO],
        [1, packed(100n, 0n), packed(4n, 0n), packed(1n, 0n)],
        { log: 1 },
      ),
      bins('WithdrawnFromBins', [packed(0n, 7n), packed(18n, 0n)], 2),
    ]
    const { events } = play(liquidityBook, at, liquidityBook.emptyState(at), logs)
    expect(events).toEqual([
      { kind: 'liquidity', change: 'add', log: logs[0], sender: SENDER, amounts: [15n, 7n], reserves: [15n, 7n] },
      { kind: 'reserves', log: logs[1], sender: SENDER, reserves: [18n, 7n] },
      { kind: 'liquidity', change: 'remove', log: logs[2], sender: SENDER, amounts: [18n, 7n], reserves: [0n, 0n] },
    ])
  })
})

it('2.0: fees are kept outside the bins', () => {
  const swap20 = (log: number, swapForY: boolean) =>
    makeLog(
      'Swap(address,address,uint256,bool,uint256,uint256,uint256,uint256)',
      [SENDER, TO, 8_388_608],
      [swapForY, 1000, 400, 9, 3],
      { log },
    )
  const one = (name: string, log: number) =>
    makeLog(`${name}(address,address,uint256,uint256,uint256)`, [SENDER, TO, 1], [50, 60], { log })
  const logs = [
    one('DepositedToBin', 0),
    swap20(1, true),
    swap20(2, true),
    swap20(4, false),
    one('WithdrawnFromBin', 5),
  ]
  const { events } = play(liquidityBook, at, { reserves: [5000n, 5000n], open: null }, logs)
  expect(events).toEqual([
    { kind: 'liquidity', change: 'add', log: logs[0], sender: SENDER, amounts: [50n, 60n], reserves: [5050n, 5060n] },
    {
      kind: 'swap',
      log: logs[2],
      sender: SENDER,
      recipient: TO,
      tokenIn: 0,
      tokenOut: 1,
      amountIn: 2006n,
      amountOut: 800n,
      reserves: [7050n, 4260n],
    },
    {
      kind: 'swap',
      log: logs[3],
      sender: SENDER,
      recipient: TO,
      tokenIn: 1,
      tokenOut: 0,
      amountIn: 1003n,
      amountOut: 400n,
      reserves: [6650n, 5260n],
    },
    {
      kind: 'liquidity',
      change: 'remove',
      log: logs[4],
      sender: SENDER,
      amounts: [50n, 60n],
      reserves: [6600n, 5200n],
    },
  ])
})

describe('a pair', () => {
  const created = makeLog('LBPairCreated(address,address,uint256,address,uint256)', [TOKEN0, TOKEN1, 20], [POOL, 7], {
    address: FACTORY,
  })
  const expected = {
    id: POOL,
    protocol: 'liquidity-book',
    amm: 'test',
    tokens: [TOKEN0, TOKEN1],
    fee: null,
    creator: null,
  }
  const chain = chainOf('liquidity-book')
  const answers =
    (version: '2.0' | '2.1', byFactory: string) =>
    (call: Call): string | null => {
      const own: Record<string, string> =
        version === '2.1'
          ? {
              'getFactory()': words(FACTORY),
              'getTokenX()': words(TOKEN0),
              'getTokenY()': words(TOKEN1),
              'getBinStep()': words(20),
              'getReserves()': words(3, 4),
            }
          : {
              'factory()': words(FACTORY),
              'tokenX()': words(TOKEN0),
              'tokenY()': words(TOKEN1),
              'feeParameters()': words(20, 1, 2),
              'getReservesAndId()': words(3, 4, 5),
            }
      if (call.to === FACTORY) return words(20, byFactory, true, false)
      const name = Object.keys(own).find((signature) => call.data === selectorOf(signature))
      return name === undefined ? null : (own[name] ?? null)
    }

  it('is created by a known factory', () => {
    const contract = chain.contracts.get(FACTORY)
    expect(contract && liquidityBook.created(created, contract, chain)).toEqual(expected)
  })

  it.each(['2.0', '2.1'] as const)(
    'of %s whose creation was not seen is accepted if its factory confirms it',
    (version) => {
      const describe = () => liquidityBook.describe(POOL, created, chain)
      expect(answerWith(describe(), answers(version, POOL))).toEqual(expected)
      expect(answerWith(describe(), answers(version, address(0xbad)))).toHaveProperty('refused')
      expect(answerWith(liquidityBook.readState(at, chain), answers(version, POOL))).toEqual({
        reserves: [3n, 4n],
        open: null,
      })
    },
  )

  it('of an unknown factory is accepted only if configured by name', () => {
    const unknown = chainOf('liquidity-book', { contracts: new Map() })
    const named = { ...unknown, named: new Set([POOL]) }
    expect(answerWith(liquidityBook.describe(POOL, created, unknown), answers('2.1', POOL))).toHaveProperty('refused')
    expect(answerWith(liquidityBook.describe(POOL, created, named), answers('2.1', POOL))).toEqual({
      ...expected,
      amm: 'lbfork',
    })
  })
})
