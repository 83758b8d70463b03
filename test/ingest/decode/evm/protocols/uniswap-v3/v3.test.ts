/** Concentrated liquidity: Uniswap V3, Pancake V3, Slipstream, Algebra. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EvmLog } from '../../../../../../services/ingest/decode/evm/log.js'
import type { Protocol } from '../../../../../../services/ingest/decode/evm/protocol.js'
import { algebra } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v3/algebra.js'
import { pancakeV3 } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v3/pancake-v3.js'
import { slipstream } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v3/slipstream.js'
import { uniswapV3 } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v3/uniswap-v3.js'
import { type V3State, v3State } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v3/v3-pool.js'
import { address, answerWith, FACTORY, makeLog, POOL, play, TOKEN0, TOKEN1, venue, word } from '../../rig.js'

const [OWNER, PAYER, TRADER] = [address(1), address(2), address(3)]
const PRICE = 2n ** 96n
type Amounts = readonly [bigint, bigint]

const at = (log: number, tx = 0) => ({ log, tx })
const swap = (amounts: Amounts, log: number, tx = 0) =>
  makeLog(
    'Swap(address,address,int256,int256,uint160,uint128,int24)',
    [PAYER, TRADER],
    [...amounts, PRICE, 5n, -1],
    at(log, tx),
  )
const mint = (amounts: Amounts, log: number, tx = 0, ticks: readonly [number, number] = [-10, 10]) =>
  makeLog(
    'Mint(address,address,int24,int24,uint128,uint256,uint256)',
    [OWNER, ...ticks],
    [PAYER, 1n, ...amounts],
    at(log, tx),
  )
const burn = (amounts: Amounts, log: number, tx = 0, ticks: readonly [number, number] = [-10, 10]) =>
  makeLog('Burn(address,int24,int24,uint128,uint256,uint256)', [OWNER, ...ticks], [1n, ...amounts], at(log, tx))
const collect = (amounts: Amounts, log: number, tx = 0, ticks: readonly [number, number] = [-10, 10]) =>
  makeLog('Collect(address,address,int24,int24,uint128,uint128)', [OWNER, ...ticks], [TRADER, ...amounts], at(log, tx))
const flash = (paid: Amounts, log: number, tx = 0) =>
  makeLog('Flash(address,address,uint256,uint256,uint256,uint256)', [PAYER, TRADER], [9n, 9n, ...paid], at(log, tx))
const collectProtocol = (amounts: Amounts, log: number, tx = 0) =>
  makeLog('CollectProtocol(address,address,uint128,uint128)', [PAYER, TRADER], amounts, at(log, tx))

const run = (logs: readonly EvmLog[], protocol: Protocol<V3State> = uniswapV3, state = v3State([1000n, 2000n])) =>
  play(protocol, venue(protocol.name), state, logs)
const eventsOf = (logs: readonly EvmLog[], protocol: Protocol<V3State> = uniswapV3) =>
  run(logs, protocol).events.map(({ kind, log, reserves }) => [kind, log.logIndex, reserves])

describe('Uniswap V3', () => {
  it('a swap has direction, amounts, price and reserves', () => {
    const log = swap([-7n, 9n], 4)
    expect(run([log])).toEqual({
      state: v3State([993n, 2009n], PRICE),
      events: [
        {
          kind: 'swap',
          log,
          reserves: [993n, 2009n],
          sender: PAYER,
          recipient: TRADER,
          tokenIn: 1,
          tokenOut: 0,
          amountIn: 9n,
          amountOut: 7n,
          sqrtPrice: PRICE,
        },
      ],
    })
  })

  it('a swap with zero out is a swap, one with zero in and out is not', () => {
    expect(run([swap([3n, 0n], 0)]).events).toMatchObject([{ kind: 'swap', tokenIn: 0, amountIn: 3n, amountOut: 0n }])
    expect(run([swap([0n, 0n], 0)]).events).toEqual([])
  })

  it('the payer adds liquidity, the owner removes it', () => {
    const logs = [mint([10n, 20n], 0), burn([4n, 8n], 1, 1)]
    expect(run(logs).events).toEqual([
      { kind: 'liquidity', change: 'add', log: logs[0], reserves: [1010n, 2020n], sender: PAYER, amounts: [10n, 20n] },
      { kind: 'liquidity', change: 'remove', log: logs[1], reserves: [1010n, 2020n], sender: OWNER, amounts: [4n, 8n] },
    ])
  })

  it('a removal includes what is collected for it later in the transaction, and so do the logs between', () => {
    expect(eventsOf([burn([4n, 8n], 0), swap([5n, -3n], 1), collect([6n, 9n], 2)])).toEqual([
      ['liquidity', 0, [994n, 1991n]],
      ['swap', 1, [999n, 1988n]],
    ])
  })

  it('a collect counts for the first burn since the last one: managers burn zero again to update fees', () => {
    expect(
      eventsOf([burn([4n, 8n], 0), burn([0n, 0n], 1), collect([5n, 9n], 2), burn([1n, 1n], 3), collect([1n, 1n], 4)]),
    ).toEqual([
      ['liquidity', 0, [995n, 1991n]],
      ['liquidity', 1, [995n, 1991n]],
      ['liquidity', 3, [994n, 1990n]],
    ])
  })

  it('a collect for another position or in another transaction is separate', () => {
    expect(eventsOf([burn([4n, 8n], 0), collect([1n, 1n], 1, 0, [-20, 10]), collect([4n, 8n], 2, 1)])).toEqual([
      ['liquidity', 0, [1000n, 2000n]],
      ['reserves', 1, [999n, 1999n]],
      ['reserves', 2, [995n, 1991n]],
    ])
  })

  it('protocol fees and flash loan fees change reserves; a zero payment does not', () => {
    expect(
      eventsOf([collectProtocol([1n, 2n], 0), flash([3n, 0n], 1), flash([0n, 0n], 2), collect([0n, 0n], 3)]),
    ).toEqual([
      ['reserves', 0, [999n, 1998n]],
      ['reserves', 1, [1002n, 1998n]],
    ])
  })

  it('keeps its initial price', () => {
    const { state, events } = run([makeLog('Initialize(uint160,int24)', [], [PRICE, 0n])])
    expect([state, events]).toEqual([v3State([1000n, 2000n], PRICE), []])
  })

  it('unknown reserves stay unknown and do not drop trades', () => {
    const { state, events } = run(
      [swap([5n, -3n], 0), burn([1n, 1n], 1), collect([1n, 1n], 2)],
      uniswapV3,
      v3State(null),
    )
    expect(state.reserves).toBeNull()
    expect(events.map(({ kind, reserves }) => [kind, reserves])).toEqual([
      ['swap', null],
      ['liquidity', null],
    ])
  })

  it('reserves above the maximum balance are unknown, because the token misreports them', () => {
    const { state } = run([mint([1n, 1n], 0)], uniswapV3, v3State([2n ** 256n - 1n, 5n]))
    expect(state.reserves).toBeNull()
  })

  it('reserves below zero become unknown', () => {
    expect(run([collect([2000n, 0n], 0)]).state.reserves).toBeNull()
    expect(run([burn([2000n, 0n], 0), collect([2000n, 0n], 1)]).state.reserves).toBeNull()
  })

  it('initial reserves are what the pool holds', () => {
    const held = new Map([
      [TOKEN0, 5n],
      [TOKEN1, 6n],
    ])
    const state = answerWith(
      uniswapV3.readState(venue('uniswap-v3'), { wrappedNative: undefined, contracts: new Map(), named: new Set() }),
      (call) => (call.data.endsWith(POOL.slice(2)) ? `0x${word(held.get(call.to) ?? 0n)}` : null),
    )
    expect(state).toEqual(v3State([5n, 6n]))
  })
})

describe('its forks', () => {
  it('Pancake’s Swap has two more words', () => {
    const log = makeLog(
      'Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)',
      [PAYER, TRADER],
      [5n, -3n, PRICE, 5n, 0n, 1n, 0n],
    )
    expect(eventsOf([log], pancakeV3)).toEqual([['swap', 0, [1005n, 1997n]]])
  })

  it('a Slipstream gauge collects fees', () => {
    const log = makeLog('CollectFees(address,uint128,uint128)', [TRADER], [5n, 3n])
    expect(eventsOf([swap([5n, -3n], 0), log], slipstream).at(-1)).toEqual(['reserves', 0, [1000n, 1994n]])
  })

  it('Algebra’s newer Swap and Burn include fees', () => {
    const logs = [
      makeLog(
        'Swap(address,address,int256,int256,uint160,uint128,int24,uint24,uint24)',
        [PAYER, TRADER],
        [5n, -3n, PRICE, 5n, 0n, 1n, 0n],
      ),
      makeLog('Burn(address,int24,int24,uint128,uint256,uint256,uint24)', [OWNER, -10, 10], [1n, 4n, 8n, 0n], at(1)),
      collect([4n, 8n], 2),
    ]
    expect(eventsOf(logs, algebra)).toEqual([
      ['swap', 0, [1005n, 1997n]],
      ['liquidity', 1, [1001n, 1989n]],
    ])
  })
})

describe('new pools', () => {
  const chain = { wrappedNative: undefined, contracts: new Map(), named: new Set<string>() }
  const contract = { address: FACTORY, protocol: '', amm: 'test' }

  it.each([
    [uniswapV3, 'PoolCreated(address,address,uint24,int24,address)', [TOKEN0, TOKEN1, 500], [10, POOL], { fee: 500 }],
    [pancakeV3, 'PoolCreated(address,address,uint24,int24,address)', [TOKEN0, TOKEN1, 2500], [50, POOL], { fee: 2500 }],
    [
      slipstream,
      'PoolCreated(address,address,int24,address)',
      [TOKEN0, TOKEN1, 200],
      [POOL],
      { facts: { tickSpacing: 200 } },
    ],
    [algebra, 'Pool(address,address,address)', [TOKEN0, TOKEN1], [POOL], {}],
    [algebra, 'CustomPool(address,address,address,address)', [address(8), TOKEN0, TOKEN1], [POOL], {}],
  ] as const)('$name', (protocol, signature, indexed, data, more) => {
    const log = makeLog(signature, indexed, data, { address: FACTORY })
    expect(protocol.created(log, contract, chain)).toEqual(venue(protocol.name, more))
    expect(protocol.emptyState(venue(protocol.name))).toEqual(v3State([0n, 0n]))
  })
})

describe('random operations', () => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 6n })
  const amounts = fc.tuple(amount, amount)
  const ticks = fc.constantFrom<readonly [number, number]>([-10, 10], [-20, 10], [0, 60])
  const tx = fc.integer({ min: 0, max: 4 })
  const moves = fc.array(
    fc.record({
      kind: fc.constantFrom('mint', 'burn', 'collect', 'swap', 'flash', 'protocol'),
      amounts,
      ticks,
      tx,
      flip: fc.boolean(),
    }),
    { maxLength: 40 },
  )

  it('reserves equal a simple ledger after every transaction, and the last event has them', () => {
    fc.assert(
      fc.property(moves, (drawn) => {
        const ledger: [bigint, bigint] = [10n ** 9n, 10n ** 9n]
        const start = v3State([...ledger])
        const entries = drawn
          .toSorted((a, b) => a.tx - b.tx)
          .map((entry, log) => {
            const [a, b] = entry.amounts
            switch (entry.kind) {
              case 'mint':
                return { log: mint([a, b], log, entry.tx, entry.ticks), gained: [a, b] as const }
              case 'burn':
                return { log: burn([a, b], log, entry.tx, entry.ticks), gained: [0n, 0n] as const }
              case 'collect':
                return { log: collect([a, b], log, entry.tx, entry.ticks), gained: [-a, -b] as const }
              case 'flash':
                return { log: flash([a, b], log, entry.tx), gained: [a, b] as const }
              case 'protocol':
                return { log: collectProtocol([a, b], log, entry.tx), gained: [-a, -b] as const }
              default: {
                const gained = entry.flip ? ([a, -b] as const) : ([-a, b] as const)
                return { log: swap(gained, log, entry.tx), gained }
              }
            }
          })
        let state = start
        for (let tx = 0; tx <= 4; tx++) {
          const inside = entries.filter(({ log }) => log.txIndex === tx)
          for (const { gained } of inside) {
            ledger[0] += gained[0]
            ledger[1] += gained[1]
          }
          const before = structuredClone(state)
          const played = run(
            inside.map(({ log }) => log),
            uniswapV3,
            state,
          )
          expect(state).toEqual(before)
          state = played.state
          expect(state.reserves).toEqual(ledger)
          expect(state.held).toBeNull()
          expect(played.events.at(-1)?.reserves ?? before.reserves).toEqual(ledger)
        }
      }),
      { numRuns: 500 },
    )
  })
})
