/** Pairs that publish their reserves: Uniswap V2 and Solidly. */
import { describe, expect, it } from 'vitest'
import { solidly } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v2/solidly.js'
import { pairState, uniswapV2 } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v2/uniswap-v2.js'
import { address, FACTORY, makeLog, POOL, play, TOKEN0, TOKEN1, venue } from '../../rig.js'

const [ROUTER, TRADER] = [address(1), address(2)]

const V2 = {
  protocol: uniswapV2,
  sync: (r0: bigint, r1: bigint, log: number, tx = 0) => makeLog('Sync(uint112,uint112)', [], [r0, r1], { log, tx }),
  swap: (amounts: readonly bigint[], log: number, tx = 0) =>
    makeLog('Swap(address,uint256,uint256,uint256,uint256,address)', [ROUTER, TRADER], amounts, { log, tx }),
  burn: (amounts: readonly bigint[], log: number) =>
    makeLog('Burn(address,uint256,uint256,address)', [ROUTER, TRADER], amounts, { log }),
}
const AERODROME: typeof V2 = {
  protocol: solidly,
  sync: (r0, r1, log, tx = 0) => makeLog('Sync(uint256,uint256)', [], [r0, r1], { log, tx }),
  swap: (amounts, log, tx = 0) =>
    makeLog('Swap(address,address,uint256,uint256,uint256,uint256)', [ROUTER, TRADER], amounts, { log, tx }),
  burn: (amounts, log) => makeLog('Burn(address,address,uint256,uint256)', [ROUTER, TRADER], amounts, { log }),
}
/** The event of Solidly's first pairs. */
const SOLIDLY_V1: typeof V2 = { ...AERODROME, swap: V2.swap, burn: V2.burn }

const mint = (amounts: readonly bigint[], log: number) =>
  makeLog('Mint(address,uint256,uint256)', [ROUTER], amounts, { log })

describe.each([
  ['Uniswap V2', V2],
  ['Aerodrome', AERODROME],
  ['Solidly', SOLIDLY_V1],
])('%s', (_, { protocol, sync, swap, burn }) => {
  const at = venue(protocol.name)
  const run = (logs: Parameters<typeof play>[3], reserves: readonly bigint[] | null = [100n, 200n]) =>
    play(protocol, at, pairState(reserves), logs)

  it('a swap has the reserves of its Sync', () => {
    const trade = swap([10n, 0n, 0n, 18n], 1)
    expect(run([sync(110n, 182n, 0), trade])).toEqual({
      state: pairState([110n, 182n]),
      events: [
        {
          kind: 'swap',
          log: trade,
          reserves: [110n, 182n],
          sender: ROUTER,
          recipient: TRADER,
          tokenIn: 0,
          tokenOut: 1,
          amountIn: 10n,
          amountOut: 18n,
        },
      ],
    })
  })

  it('amounts are net: what was paid back is not traded', () => {
    const [event] = run([sync(95n, 211n, 0), swap([2n, 11n, 7n, 0n], 1)]).events
    expect(event).toMatchObject({ kind: 'swap', tokenIn: 1, tokenOut: 0, amountIn: 11n, amountOut: 5n })
  })

  it.each([
    ['repaid in the same token', [101n, 0n, 100n, 0n]],
    ['paid in both tokens', [101n, 5n, 100n, 0n]],
  ])('a flash loan %s is not a trade and changes the reserves', (_, amounts) => {
    const loan = swap(amounts, 1)
    expect(run([sync(101n, 200n, 0), loan]).events).toEqual([
      { kind: 'reserves', log: loan, reserves: [101n, 200n], sender: ROUTER },
    ])
  })

  it('liquidity is added and removed by the sender of the log', () => {
    const logs = [sync(110n, 220n, 0), mint([10n, 20n], 1), sync(105n, 210n, 2), burn([5n, 10n], 3)]
    expect(run(logs).events).toEqual([
      { kind: 'liquidity', change: 'add', log: logs[1], reserves: [110n, 220n], sender: ROUTER, amounts: [10n, 20n] },
      { kind: 'liquidity', change: 'remove', log: logs[3], reserves: [105n, 210n], sender: ROUTER, amounts: [5n, 10n] },
    ])
  })

  it('every unclaimed Sync is published, even several in one transaction', () => {
    const logs = [
      sync(101n, 200n, 0),
      sync(102n, 200n, 1),
      sync(110n, 185n, 2),
      swap([8n, 0n, 0n, 15n], 3),
      sync(111n, 185n, 4),
    ]
    const { events, state } = run(logs)
    expect(events.map(({ kind, log, reserves }) => [kind, log.logIndex, reserves])).toEqual([
      ['reserves', 0, [101n, 200n]],
      ['reserves', 1, [102n, 200n]],
      ['swap', 3, [110n, 185n]],
      ['reserves', 4, [111n, 185n]],
    ])
    expect(state).toEqual(pairState([111n, 185n]))
  })

  it('a Sync is not claimed by a log of the next transaction', () => {
    const logs = [sync(101n, 200n, 0), sync(110n, 185n, 1, 1), swap([9n, 0n, 0n, 15n], 2, 1)]
    expect(run(logs).events.map(({ kind, log }) => [kind, log.logIndex])).toEqual([
      ['reserves', 0],
      ['swap', 2],
    ])
  })

  it('a Sync without a change is not published', () => {
    expect(run([sync(100n, 200n, 0)]).events).toEqual([])
    expect(run([sync(100n, 200n, 0)], null).events).toHaveLength(1)
  })

  it('does not modify the state passed in', () => {
    const before = pairState([100n, 200n])
    const copy = structuredClone(before)
    play(protocol, at, before, [sync(1n, 2n, 0), swap([9n, 0n, 0n, 15n], 1)])
    expect(before).toEqual(copy)
  })
})

describe('new pairs', () => {
  const contract = { address: FACTORY, protocol: 'uniswap-v2', amm: 'cakev2', fee: 2500 }
  const chain = { wrappedNative: undefined, contracts: new Map(), named: new Set<string>() }

  it('of Uniswap V2', () => {
    const log = makeLog('PairCreated(address,address,address,uint256)', [TOKEN0, TOKEN1], [POOL, 1n], {
      address: FACTORY,
    })
    expect(uniswapV2.created(log, contract, chain)).toEqual(venue('uniswap-v2', { amm: 'cakev2', fee: 2500 }))
  })

  it('of a token with itself are ignored', () => {
    const log = makeLog('PairCreated(address,address,address,uint256)', [TOKEN0, TOKEN0], [POOL, 1n], {
      address: FACTORY,
    })
    expect(uniswapV2.created(log, contract, chain)).toBeNull()
  })

  it.each([
    ['Aerodrome', makeLog('PoolCreated(address,address,bool,address,uint256)', [TOKEN0, TOKEN1, true], [POOL, 1n])],
    ['Solidly', makeLog('PairCreated(address,address,bool,address,uint256)', [TOKEN0, TOKEN1], [true, POOL, 1n])],
  ])('of %s', (_, log) => {
    expect(solidly.created(log, { ...contract, protocol: 'solidly', amm: 'aerodrome' }, chain)).toEqual(
      venue('solidly', { amm: 'aerodrome', facts: { stable: true } }),
    )
  })
})
