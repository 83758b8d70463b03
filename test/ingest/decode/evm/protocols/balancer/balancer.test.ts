/** Balancer: the vault's logs, and its answers about a pool whose creation was not seen. */
import { describe, expect, it } from 'vitest'
import { BadLog } from '../../../../../../services/ingest/decode/evm/protocol.js'
import { balancer } from '../../../../../../services/ingest/decode/evm/protocols/balancer/balancer.js'
import { balancerV3 } from '../../../../../../services/ingest/decode/evm/protocols/balancer/balancer-v3.js'
import { address, answerWith, chainOf, makeLog, play, venue, type Word, word } from '../../rig.js'

const VAULT = address(0xba1)
const POOL_ID = `0x${'5c6ee304399dbdb9c8ef030ab642b10820db8f56'}000200000000000000000014`
const POOL = POOL_ID.slice(0, 42)
const TOKENS = [address(0xa), address(0xb), address(0xc)] as const
const LP = address(0x11)
const [A, B, C] = TOKENS

const knownVault = (protocol: string, amm: string) => ({ address: VAULT, protocol, amm })
const chain = (protocol: string) =>
  chainOf(protocol, { contracts: new Map([[VAULT, knownVault(protocol, 'balancer')]]) })
const words = (...values: Word[]): string => `0x${values.map(word).join('')}`

describe('Balancer V2', () => {
  const registered = makeLog(
    'TokensRegistered(bytes32,address[],address[])',
    [POOL_ID],
    [64, 192, 3, ...TOKENS, 3, address(0), address(0), address(0)],
    { address: VAULT },
  )
  const at = balancer.created(registered, knownVault('balancer', 'balancer'), chain('balancer'))
  if (at === null) throw new Error('no pool was made')
  const swap = (tokenIn: string, tokenOut: string, amountIn: bigint, amountOut: bigint, log: number) =>
    makeLog('Swap(bytes32,address,address,uint256,uint256)', [POOL_ID, tokenIn, tokenOut], [amountIn, amountOut], {
      address: VAULT,
      log,
    })
  const changed = (deltas: readonly bigint[], fees: readonly bigint[], log: number) =>
    makeLog(
      'PoolBalanceChanged(bytes32,address,address[],int256[],uint256[])',
      [POOL_ID, LP],
      [96, 224, 352, 3, ...TOKENS, 3, ...deltas, 3, ...fees],
      { address: VAULT, log },
    )
  const managed = (token: string, cash: bigint, other: bigint, log: number) =>
    makeLog('PoolBalanceManaged(bytes32,address,address,int256,int256)', [POOL_ID, LP, token], [cash, other], {
      address: VAULT,
      log,
    })

  it('creates a pool under its address and keeps its id', () => {
    expect(at).toEqual({
      id: POOL,
      protocol: 'balancer',
      amm: 'balancer',
      tokens: TOKENS,
      fee: null,
      creator: null,
      facts: { vault: VAULT, poolId: POOL_ID },
    })
    expect(balancer.venueOf(swap(A, B, 1n, 1n, 0))).toBe(POOL)
  })

  it('follows the reserves through joins, swaps, asset managers and exits', () => {
    const logs = [
      changed([1000n, 2000n, 3000n], [0n, 0n, 0n], 0),
      swap(A, C, 100n, 250n, 1),
      managed(B, -500n, 500n, 2),
      managed(B, 0n, 7n, 3),
      changed([-10n, -20n, -30n], [1n, 2n, 3n], 4),
      changed([0n, 0n, 0n], [0n, 0n, 5n], 5),
    ]
    const { state, events } = play(balancer, at, balancer.emptyState(at), logs)
    expect(events).toEqual([
      {
        kind: 'liquidity',
        change: 'add',
        log: logs[0],
        sender: LP,
        amounts: [1000n, 2000n, 3000n],
        reserves: [1000n, 2000n, 3000n],
      },
      {
        kind: 'swap',
        log: logs[1],
        sender: VAULT,
        recipient: VAULT,
        tokenIn: 0,
        tokenOut: 2,
        amountIn: 100n,
        amountOut: 250n,
        reserves: [1100n, 2000n, 2750n],
      },
      { kind: 'reserves', log: logs[3], sender: LP, reserves: [1100n, 2007n, 2750n] },
      {
        kind: 'liquidity',
        change: 'remove',
        log: logs[4],
        sender: LP,
        amounts: [10n, 20n, 30n],
        reserves: [1089n, 1985n, 2717n],
      },
      { kind: 'reserves', log: logs[5], sender: LP, reserves: [1089n, 1985n, 2712n] },
    ])
    expect(state.reserves).toEqual([1089n, 1985n, 2712n])
  })

  it('ignores another contract that uses the pool’s id', () => {
    const start = balancer.emptyState(at)
    const forged = { ...swap(A, B, 1n, 1n, 0), address: address(0xbad) }
    expect(balancer.apply(forged, at, start)).toEqual({ state: start, events: [] })
  })

  it('rejects a log with a token outside the pool, or a token swapped for itself', () => {
    const start = balancer.emptyState(at)
    expect(() => balancer.apply(swap(address(0xdd), B, 1n, 1n, 0), at, start)).toThrow(BadLog)
    expect(() => balancer.apply(swap(A, A, 1n, 1n, 0), at, start)).toThrow(BadLog)
  })

  it('reads a pool whose creation was not seen from the vault, and rejects another vault', () => {
    const answer = words(96, 224, 352, 3, ...TOKENS, 3, 5, 6, 7, 99)
    const met = answerWith(balancer.describe(POOL, swap(A, B, 1n, 1n, 0), chain('balancer')), () => answer)
    expect(met).toEqual(at)
    expect(answerWith(balancer.readState(at, chain('balancer')), () => answer)).toEqual({ reserves: [5n, 6n, 7n] })
    expect(answerWith(balancer.readState(at, chain('balancer')), () => null)).toEqual({ reserves: null })
    const other = { ...swap(A, B, 1n, 1n, 0), address: address(0xbad) }
    expect(answerWith(balancer.describe(POOL, other, chain('balancer')), () => answer)).toHaveProperty('refused')
  })

  it('no longer knows the reserves once more went out than was there', () => {
    const { state } = play(balancer, at, { reserves: [5n, 5n, 5n] }, [swap(A, B, 1n, 6n, 0)])
    expect(state.reserves).toBeNull()
  })
})

describe('Balancer V3', () => {
  const at = venue('balancer-v3', { id: POOL, amm: 'balancer', tokens: [A, B], facts: { vault: VAULT } })
  const swap = makeLog(
    'Swap(address,address,address,uint256,uint256,uint256,uint256)',
    [POOL, B, A],
    [70, 69, 10n ** 16n, 1],
    {
      address: VAULT,
    },
  )
  const liquidity = (name: string) =>
    makeLog(
      `${name}(address,address,uint8,uint256,uint256[],uint256[])`,
      [POOL, LP, 1],
      [1000, 96, 192, 2, 30, 40, 2, 0, 0],
      {
        address: VAULT,
      },
    )

  it('decodes swaps and liquidity, and leaves the reserves to the end of the block', () => {
    const logs = [swap, liquidity('LiquidityAdded'), liquidity('LiquidityRemoved')]
    const { events } = play(balancerV3, at, balancerV3.emptyState(at), logs)
    expect(events).toEqual([
      {
        kind: 'swap',
        log: logs[0],
        sender: VAULT,
        recipient: VAULT,
        tokenIn: 1,
        tokenOut: 0,
        amountIn: 70n,
        amountOut: 69n,
        reserves: null,
      },
      { kind: 'liquidity', change: 'add', log: logs[1], sender: LP, amounts: [30n, 40n], reserves: null },
      { kind: 'liquidity', change: 'remove', log: logs[2], sender: LP, amounts: [30n, 40n], reserves: null },
    ])
  })

  it('reads tokens and raw balances from the vault', () => {
    const tokens = words(32, 2, A, B)
    const met = answerWith(balancerV3.describe(POOL, swap, chain('balancer-v3')), () => tokens)
    expect(met).toEqual(at)
    const info = words(128, 224, 512, 608, 2, A, B, 2, A, 0, 0, 0, B, 0, 0, 0, 2, 11, 12, 2, 21, 22)
    const reading = balancerV3.readReserves?.(at, chain('balancer-v3'))
    expect(reading && answerWith(reading, () => info)).toEqual([11n, 12n])
  })
})
