/** Uniswap V4 with handmade logs: pools, each log, logs of unrelated contracts, and inconsistent states. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { selectorOf } from '../../../../../../services/ingest/decode/evm/abi/keccak.js'
import type { EvmLog } from '../../../../../../services/ingest/decode/evm/log.js'
import { BadLog } from '../../../../../../services/ingest/decode/evm/protocol.js'
import { sqrtPriceAtTick } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v4/liquidity-math.js'
import { idOf, type PoolKey } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v4/pool-key.js'
import { uniswapV4 } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v4/uniswap-v4.js'
import type { V4State } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v4/v4-state.js'
import { address, answerWith, chainOf, makeLog, type Word, word } from '../../rig.js'

const [MANAGER, POSITIONS] = [address(0x4a), address(0x4b)]
const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
const NATIVE = address(0)
const WHO = address(0x77)
const contract = { address: MANAGER, protocol: 'uniswap-v4', amm: 'uniswapv4', others: { positions: POSITIONS } }
const chain = chainOf('uniswap-v4', { wrappedNative: WETH, contracts: new Map([[MANAGER, contract]]) })
const words = (...values: Word[]): string => `0x${values.map(word).join('')}`

const KEY: PoolKey = { currencies: [NATIVE, USDC], fee: 500, tickSpacing: 10, hooks: NATIVE }
const ID = idOf(KEY)
const PRICE = sqrtPriceAtTick(0)
const initialize = (key: PoolKey): EvmLog =>
  makeLog(
    'Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)',
    [idOf(key), ...key.currencies],
    [key.fee, key.tickSpacing, key.hooks, PRICE, 0],
    { address: MANAGER },
  )
const modify = (lower: number, upper: number, delta: bigint): EvmLog =>
  makeLog('ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)', [ID, WHO], [lower, upper, delta, 0], {
    address: MANAGER,
  })
const swap = (amount0: bigint, amount1: bigint, price: bigint, liquidity: bigint, tick: number, fee = 500): EvmLog =>
  makeLog(
    'Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)',
    [ID, WHO],
    [amount0, amount1, price, liquidity, tick, fee],
    {
      address: MANAGER,
    },
  )

const venue = uniswapV4.created(initialize(KEY), contract, chain)
if (venue === null) throw new Error('no pool')

function played(...logs: readonly EvmLog[]): { state: V4State; last: unknown } {
  if (venue === null) throw new Error('no pool')
  let state = uniswapV4.emptyState(venue)
  let last: unknown = null
  for (const log of logs) {
    const applied = uniswapV4.apply(log, venue, state)
    state = applied.state
    last = applied.events
  }
  return { state, last }
}

describe('a pool', () => {
  it('is identified by its id; the native coin appears as its wrapped token', () =>
    expect(venue).toEqual({
      id: ID,
      protocol: 'uniswap-v4',
      amm: 'uniswapv4',
      tokens: [WETH, USDC],
      fee: 500,
      creator: null,
      facts: { manager: MANAGER, tickSpacing: 10, hooks: NATIVE },
    }))

  it('whose hook sets the fee has no fixed fee', () => {
    const key = { ...KEY, fee: 0x800000, hooks: address(0x40) }
    expect(uniswapV4.created(initialize(key), contract, chain)).toMatchObject({
      fee: null,
      facts: { hooks: key.hooks },
    })
  })

  it('of the plain and wrapped native coin is ignored; without a wrapped token, zero stands for the coin', () => {
    expect(uniswapV4.created(initialize({ ...KEY, currencies: [NATIVE, WETH] }), contract, chain)).toBeNull()
    const bare = { ...chain, wrappedNative: undefined }
    expect(uniswapV4.created(initialize(KEY), contract, bare)?.tokens).toEqual([NATIVE, USDC])
  })

  it('has the same id as the first ETH/USDC pool of 0.05 % on chain', () =>
    expect(ID).toBe('0x21c67e77068de97969ba93d4aab21826d33ca12bb9f565d8496e8fda8a82ca27'))

  it('whose creation was not seen is described by the position manager, if its key hashes to the id', () => {
    const log = swap(-1n, 1n, PRICE, 1n, 0)
    const asked = `${selectorOf('poolKeys(bytes25)')}${ID.slice(2, 52)}${'0'.repeat(14)}`
    const key = words(NATIVE, USDC, 500, 10, NATIVE)
    const describe = (answer: string | null, from = log) =>
      answerWith(uniswapV4.describe(ID, from, chain), ({ to, data }) =>
        to === POSITIONS && data === asked ? answer : null,
      )
    expect(describe(key)).toEqual(venue)
    expect(describe(words(NATIVE, USDC, 3000, 10, NATIVE))).toHaveProperty('refused')
    expect(describe(words(0, 0, 0, 0, 0))).toHaveProperty('refused')
    expect(describe(null)).toMatchObject({ refused: expect.stringContaining('key'), isOurs: true })
    expect(describe(key, { ...log, address: WHO })).toHaveProperty('refused')
  })
})

describe('a log', () => {
  const made = [initialize(KEY), modify(-100, 100, 10n ** 9n)]

  it('adds principal rounded up, and removes it rounded down', () => {
    const { state, last } = played(...made)
    expect(last).toEqual([
      {
        kind: 'liquidity',
        change: 'add',
        log: made[1],
        sender: WHO,
        amounts: [4_987_273n, 4_987_273n],
        reserves: [4_987_273n, 4_987_273n],
      },
    ])
    expect(state.liquidity).toBe(10n ** 9n)
    const out = modify(-100, 100, -(10n ** 9n))
    expect(played(...made, out).last).toEqual([
      {
        kind: 'liquidity',
        change: 'remove',
        log: out,
        sender: WHO,
        amounts: [4_987_272n, 4_987_272n],
        reserves: [1n, 1n],
      },
    ])
    expect(played(...made, out).state).toMatchObject({ liquidity: 0n, ticks: new Map() })
  })

  it('that only collects fees changes just the reserves; a donation comes back as fees', () => {
    const donate = makeLog('Donate(bytes32,address,uint256,uint256)', [ID, WHO], [1000, 2000], { address: MANAGER })
    const poke = modify(-100, 100, 0n)
    expect(played(...made, donate).last).toEqual([
      { kind: 'reserves', log: donate, sender: WHO, reserves: [4_988_273n, 4_989_273n] },
    ])
    expect(played(...made, donate, poke).last).toEqual([
      { kind: 'reserves', log: poke, sender: WHO, reserves: [4_987_274n, 4_987_274n] },
    ])
  })

  it('of a swap has the swapper’s amounts negated, and the price', () => {
    // 1,000,000 in: 999,500 after the fee, at a liquidity of 10^9 from price 1.
    const price = (10n ** 9n * PRICE) / (10n ** 9n + 999_500n) + 1n
    const log = swap(-1_000_000n, 998_502n, price, 10n ** 9n, -20)
    const { state, last } = played(...made, log)
    expect(last).toEqual([
      {
        kind: 'swap',
        log,
        sender: WHO,
        recipient: WHO,
        tokenIn: 0,
        tokenOut: 1,
        amountIn: 1_000_000n,
        amountOut: 998_502n,
        sqrtPrice: price,
        reserves: [5_987_273n, 3_988_771n],
      },
    ])
    expect(state.growth).toEqual([(500n << 128n) / 10n ** 9n, 0n])
  })

  it('of a swap that a hook executed elsewhere is ignored', () =>
    expect(played(...made, swap(0n, 0n, PRICE, 10n ** 9n, 0)).last).toEqual([]))

  it('of another contract that uses the id is ignored', () =>
    expect(played(...made, { ...swap(-5n, 4n, PRICE, 10n ** 9n, 0), address: WHO }).last).toEqual([]))

  it('that does not match the followed state is published with unknown reserves', () => {
    const { state, last } = played(...made, swap(-1_000_000n, 998_502n, sqrtPriceAtTick(-20), 5n, -20))
    expect(last).toMatchObject([{ kind: 'swap', amountIn: 1_000_000n, reserves: null }])
    expect(state).toMatchObject({ reserves: null, ticks: null, liquidity: 5n, tick: -20 })
    expect(played(...made, modify(-50, 50, -1n)).last).toMatchObject([{ kind: 'liquidity', reserves: null }])
  })

  it.each([
    swap(-5n, -5n, PRICE, 1n, 0),
    swap(5n, 5n, PRICE, 1n, 0),
    swap(-5n, 5n, 0n, 1n, 0),
    swap(-5n, 5n, PRICE, 1n, 0, 1_000_001),
    modify(100, 100, 1n),
    modify(-900_000, 0, 1n),
    initialize({ ...KEY, tickSpacing: 0 }),
  ])('that no manager emits is a bad log', (log) => expect(() => played(...made, log)).toThrow(BadLog))
})

it('is always applied or rejected quickly, and the previous state stays unchanged', () => {
  const made = played(
    initialize(KEY),
    modify(-100, 100, 10n ** 9n),
    modify(-20, 40, 10n ** 12n),
    modify(-887_270, 887_270, 77n),
  )
  const copy = structuredClone(made.state)
  const tick = fc.integer({ min: -887_273, max: 887_273 })
  const amount = fc.oneof(
    fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n - 1n }),
    fc.bigInt({ min: -(10n ** 9n), max: 10n ** 9n }),
  )
  const liquidity = fc.oneof(
    fc.constantFrom(10n ** 9n, 10n ** 12n + 10n ** 9n + 77n, 77n, 0n),
    fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
  )
  const anyLog = fc.oneof(
    fc
      .tuple(
        amount,
        amount,
        tick,
        fc.bigInt({ min: -1000n, max: 1000n }),
        liquidity,
        tick,
        fc.integer({ min: 0, max: 1_000_000 }),
      )
      .map(([amount0, amount1, priceTick, off, size, at, fee]) =>
        swap(amount0, amount1, sqrtPriceAtTick(priceTick) + off, size, at, fee),
      ),
    fc.tuple(tick, tick, amount).map(([lower, upper, delta]) => modify(lower, upper, delta)),
  )
  fc.assert(
    fc.property(anyLog, (log) => {
      if (venue === null) throw new Error('no pool')
      try {
        const { state } = uniswapV4.apply(log, venue, made.state)
        structuredClone(state)
      } catch (error) {
        if (!(error instanceof BadLog)) throw error
      }
      expect(made.state).toEqual(copy)
    }),
    { numRuns: 1500 },
  )
})
