import { describe, expect, test } from 'vitest'
import { decodeBase58 } from '../../../../../../services/ingest/decode/solana/keys/base58.js'
import { raydiumV4, rayLogOf } from '../../../../../../services/ingest/decode/solana/programs/raydium/raydium-v4.js'
import { describeRecorded } from '../../../../../rig/recordings.js'
import { garble } from '../../garble.js'
import { describeGenerated } from '../../generated-cases.js'
import {
  bytes,
  decoded,
  type Held,
  hex,
  made,
  refusal,
  transactionOf,
  u8,
  u64,
  u128,
  WRAPPED_SOL,
} from '../../instruction-rig.js'
import { legOf, realLegs } from '../../real-legs.js'
import { sharedJson } from '../../real-transactions.js'

const COIN = 'q2y4FENF5cFdX95e2hg6e2MRdxkfeiF3PUHtw1ypump'
const POOL = { pool: 'pool', amm: 'raydium', token0: COIN, token1: WRAPPED_SOL, fee: null, creator: null }
const HELD: Held[] = [
  { account: 'coinVault', mint: COIN, owner: 'authority', pre: 1000n, post: 1000n },
  { account: 'pcVault', mint: WRAPPED_SOL, owner: 'authority', pre: 500n, post: 500n },
]

/** Transactions whose whole trade was made by one v4 pool. */
const ONE_SWAP = new Set([
  'raydiumLiquidityPoolV4_swap_0',
  'raydiumLiquidityPoolV4_swap_1',
  'jupiterAggregatorV6_Route_1',
  'OKXDEX_commissionSolSwap2',
])

function rayLog(...fields: readonly Uint8Array[]): string[] {
  return [`ray_log: ${Buffer.from(bytes(...fields)).toString('base64')}`]
}

/** `at`: indexes of named accounts; the others are unrelated. */
function accounts(length: number, at: Record<number, string>): string[] {
  return Array.from({ length }, (_, place) => at[place] ?? `other${place}`)
}

describeGenerated(raydiumV4, 'raydium', { named: 1 })

describeRecorded('Raydium v4 on mainnet', 5, () => {
  const legs = realLegs(raydiumV4)

  test('decodes a complete swap of pc for coin', () => {
    const { instruction, transaction } = legOf(legs, '54MFrVcf')
    expect(decoded(raydiumV4, instruction, transaction)).toEqual([
      {
        kind: 'swap',
        pool: {
          pool: 'E2LhpiJdbHx6Fbz2zGAcbbrbMPkn88TpMHP4g236oBZi',
          amm: 'raydium',
          token0: 'FTScF4TvRPRFKjgVEg9G96CqPrzumLDLmV1Kr7JQzQrg',
          token1: WRAPPED_SOL,
          fee: null,
          creator: null,
        },
        sender: 'e8ywkbPWkwFuKRc6nYtzyqmqXxfhspdrCgHFipqR3dk',
        recipient: 'e8ywkbPWkwFuKRc6nYtzyqmqXxfhspdrCgHFipqR3dk',
        tokenIn: WRAPPED_SOL,
        amountIn: 32508133n,
        tokenOut: 'FTScF4TvRPRFKjgVEg9G96CqPrzumLDLmV1Kr7JQzQrg',
        amountOut: 12795559n,
        reserve0: 141094451407n,
        reserve1: 357597982374n,
        sqrtPrice: null,
      },
    ])
  })

  test('decodes every swap like other decoders, including those called by Jupiter and OKX', () => {
    type Swapped = Record<'Who' | 'FromToken' | 'ToToken' | 'FromTokenAmount' | 'ToTokenAmount', string>
    type Expected = { fixture: string; actions: { expected: Swapped }[] }
    const expected = (sharedJson('tx-parser/expected.json') as Expected[])
      .map(({ fixture, actions }) => ({ fixture: fixture.replace('.json', ''), actions }))
      .filter(({ fixture, actions }) => ONE_SWAP.has(fixture) && actions[0]?.expected.FromToken !== undefined)
      .flatMap(({ fixture, actions }) => actions.map((action) => ({ fixture, ...action.expected })))
    const swaps = expected.map(({ fixture }) => {
      const { instruction, transaction } = legOf(legs, `tx-parser/${fixture}`)
      const [swap] = decoded(raydiumV4, instruction, transaction)
      if (swap?.kind !== 'swap') throw new Error(`no swap in ${fixture}`)
      const { sender, tokenIn, tokenOut, amountIn, amountOut } = swap
      return { sender, tokenIn, tokenOut, amountIn: `${amountIn}`, amountOut: `${amountOut}` }
    })
    expect(swaps).toEqual(
      expected.map(({ Who, FromToken, ToToken, FromTokenAmount, ToTokenAmount }) => ({
        sender: Who,
        tokenIn: FromToken,
        tokenOut: ToToken,
        amountIn: FromTokenAmount,
        amountOut: ToTokenAmount,
      })),
    )
    expect(swaps.length).toBe(ONE_SWAP.size)
  })

  test('ray_log, transfers and final balances agree in every recorded swap', () => {
    const recorded = legs.filter(({ name }) => !name.startsWith('generated/'))
    const reserves = recorded.map(({ instruction, transaction }) => {
      const [reported] = decoded(raydiumV4, instruction, transaction)
      const [silent] = decoded(raydiumV4, { ...instruction, programLogs: null }, transaction) as (typeof reported)[]
      return { reported, silent }
    })
    expect(reserves.length).toBeGreaterThan(8)
    for (const { reported, silent } of reserves) {
      if (reported?.kind !== 'swap' || silent?.kind !== 'swap') throw new Error('no swap')
      // Unclaimed protocol fees are still in the vaults.
      const { reserve0, reserve1, ...rest } = silent
      expect(reported).toMatchObject(rest)
      expect(Number(reported.reserve0)).toBeLessThanOrEqual(Number(reserve0))
      expect(Number(reported.reserve1)).toBeLessThanOrEqual(Number(reserve1))
    }
  })

  test('rejects a transfer that differs from the ray_log, with both amounts', () => {
    const { instruction, transaction } = legOf(legs, '54MFrVcf')
    const inner = instruction.inner.map((call, at) =>
      at === 1 && call.transfer !== null ? { ...call, transfer: { ...call.transfer, amount: 12795558n } } : call,
    )
    const { reason, message } = refusal(raydiumV4, { ...instruction, inner }, transaction)
    expect({ reason, message }).toEqual({
      reason: 'disagreement',
      message: 'amount (out): 12795559 in the event, 12795558 in the transfers',
    })
  })

  test('rejects random data in any field without another error', () => {
    const { decoded: whole, refused } = garble(raydiumV4, legs, { seed: 4, times: 4_000, named: 1 })
    expect(whole).toBeGreaterThan(200)
    expect(refused).toBeGreaterThan(800)
  })
})

/** Slot 304155378, transaction 2gMuTdGx6RaQKSrUqGib2kkNQ7XD71eMvA3fm8h5MY8qFSLoALQrnxiWo3YzCdaTSEstGd751HwD3LqVaxjX268t. */
test('decodes a complete pool creation from mainnet', () => {
  const owner = '87nRYXqKArSLrotSCWXRLkCnk5jVfiQVo3HqjLT31VeK'
  const [coinVault, pcVault] = [
    '93NvHA7Ci7yu6oL4sca1f976AcKpAUSXNUMs1YDQZvZb',
    'Dc88MUmS675aV4YDLkyLvofSSBidkAFWcVWsiQKRnpX9',
  ]
  const [coin, pc] = ['GPjBbuAQJ5nLCuCfbvsgxwZZLLNqwQ3jUT2Crkx3muFL', '5jhe4Lf4J51Afa53hjgz4WUmWN6TEnxW15bEKUGFD44M']
  const address = '6DdbGL4GRr4gMeE4gkHQHLVABuD8vMDNC1QmsgtUKvPZ'
  const instruction = made(raydiumV4, {
    accounts: accounts(21, {
      4: address,
      8: COIN,
      9: WRAPPED_SOL,
      10: coinVault,
      11: pcVault,
      17: owner,
      18: coin,
      19: pc,
    }),
    data: decodeBase58('4YGRzKFWLGjqCEnZ2ZNMhL4Z2pcEJ8HRH4u'),
    sent: [
      { mint: COIN, source: coin, destination: coinVault, amount: 206900000000000000n },
      { mint: WRAPPED_SOL, source: pc, destination: pcVault, amount: 763000000000n },
    ],
    programLogs: [
      'initialize2: InitializeInstruction2 { nonce: 254, open_time: 1732807457, init_pc_amount: 763000000000, init_coin_amount: 206900000000000000 }',
      'ray_log: ACGLSGcAAAAACQkA4fUFAAAAAADh9QUAAAAAAA5YprEAAAAAQAcsdA7fAqAy5vwufyQb7XVEmbVElVzX4rS5eY47hgAW/v6eAilV',
    ],
  })
  const pool = { pool: address, amm: 'raydium', token0: COIN, token1: WRAPPED_SOL, fee: null, creator: owner }
  expect(decoded(raydiumV4, instruction, transactionOf(instruction))).toEqual([
    { kind: 'pool', pool },
    {
      kind: 'liquidity',
      pool,
      change: 'create',
      sender: owner,
      amount0: 206900000000000000n,
      amount1: 763000000000n,
      reserve0: 206900000000000000n,
      reserve1: 763000000000n,
    },
  ])
})

describeRecorded('its log', 1, () => {
  test('decodes a recorded ray_log, field by field', () => {
    type Payload = { program_test: string; payload_base64: string[]; fields: Record<string, string> }
    const payloads = sharedJson('pinax/event_payloads.json') as Payload[]
    const payload = payloads.find((each) => each.program_test.includes('amm_v4_swap_event'))
    const line = `ray_log: ${payload?.payload_base64[0]}`
    const instruction = made(raydiumV4, { accounts: [], data: u8(9), programLogs: [line] })
    const { amount_in, out_amount, pool_coin, pool_pc } = payload?.fields ?? {}
    expect(rayLogOf(instruction)).toEqual({
      kind: 'swap',
      isCoinIn: true,
      amountIn: BigInt(amount_in ?? ''),
      amountOut: BigInt(out_amount ?? ''),
      poolCoin: BigInt(pool_coin ?? ''),
      poolPc: BigInt(pool_pc ?? ''),
    })
  })
})

test('decodes a swap for a given amount out, in the short form without a market', () => {
  const instruction = made(raydiumV4, {
    accounts: ['token', 'pool', 'authority', 'coinVault', 'pcVault', 'source', 'destination', 'owner'],
    data: bytes(u8(17), u64(40n), u64(7n)),
    sent: [
      { mint: COIN, source: 'source', destination: 'coinVault', amount: 33n },
      { mint: WRAPPED_SOL, source: 'pcVault', destination: 'destination', amount: 7n },
    ],
    programLogs: rayLog(u8(4), u64(40n), u64(7n), u64(2n), u64(99n), u64(900n), u64(450n), u64(33n)),
  })
  expect(decoded(raydiumV4, instruction, transactionOf(instruction, HELD))).toEqual([
    {
      kind: 'swap',
      pool: POOL,
      sender: 'owner',
      recipient: 'owner',
      tokenIn: COIN,
      amountIn: 33n,
      tokenOut: WRAPPED_SOL,
      amountOut: 7n,
      reserve0: 933n,
      reserve1: 443n,
      sqrtPrice: null,
    },
  ])
})

describe('liquidity, by the number of accounts', () => {
  const logOf = (kind: number) =>
    rayLog(
      ...[u8(kind), ...(kind === 1 ? [u64(1n), u64(2n), u64(0n)] : [u64(1n), u64(2n)])],
      ...[u64(900n), u64(450n), u64(70n), u128(5n), u128(6n), u64(90n), u64(45n)],
      ...(kind === 1 ? [u64(7n)] : []),
    )
  const places = [
    ['deposit', 3, 11, { 1: 'pool', 5: 'coinVault', 6: 'pcVault', 7: 'coin', 8: 'pc', 10: 'owner' }],
    ['deposit', 3, 14, { 1: 'pool', 6: 'coinVault', 7: 'pcVault', 9: 'coin', 10: 'pc', 12: 'owner' }],
    ['withdrawal', 4, 11, { 1: 'pool', 5: 'coinVault', 6: 'pcVault', 8: 'coin', 9: 'pc', 10: 'owner' }],
    ['withdrawal', 4, 20, { 1: 'pool', 6: 'coinVault', 7: 'pcVault', 14: 'coin', 15: 'pc', 16: 'owner' }],
    ['withdrawal', 4, 22, { 1: 'pool', 6: 'coinVault', 7: 'pcVault', 16: 'coin', 17: 'pc', 18: 'owner' }],
  ] as const

  test.each(places)('a %s (%i) with %i accounts', (_name, tag, length, at) => {
    const isDeposit = tag === 3
    const sent = isDeposit
      ? [
          { mint: COIN, source: 'coin', destination: 'coinVault', amount: 90n },
          { mint: WRAPPED_SOL, source: 'pc', destination: 'pcVault', amount: 45n },
        ]
      : [
          { mint: COIN, source: 'coinVault', destination: 'coin', amount: 90n },
          { mint: WRAPPED_SOL, source: 'pcVault', destination: 'pc', amount: 45n },
        ]
    const instruction = made(raydiumV4, {
      accounts: accounts(length, at),
      data: bytes(u8(tag), u64(100n), u64(50n), u64(0n)),
      sent,
      programLogs: logOf(isDeposit ? 1 : 2),
    })
    expect(decoded(raydiumV4, instruction, transactionOf(instruction, HELD))).toEqual([
      {
        kind: 'liquidity',
        pool: POOL,
        change: isDeposit ? 'add' : 'remove',
        sender: 'owner',
        amount0: 90n,
        amount1: 45n,
        reserve0: isDeposit ? 990n : 810n,
        reserve1: isDeposit ? 495n : 405n,
      },
    ])
    const silent = { ...instruction, programLogs: null }
    expect(decoded(raydiumV4, silent, transactionOf(silent, HELD))).toMatchObject([{ amount0: 90n, amount1: 45n }])
    const other = { ...instruction, programLogs: logOf(isDeposit ? 2 : 1) }
    expect(refusal(raydiumV4, other, transactionOf(other, HELD)).reason).toBe('disagreement')
  })
})

test('ignores other instructions, and rejects one whose mints are unknown', () => {
  const monitor = made(raydiumV4, { accounts: [], data: hex('02000000') })
  expect(decoded(raydiumV4, monitor, transactionOf(monitor))).toEqual([])
  const accountsOfSwap = accounts(8, { 3: 'coinVault', 4: 'pcVault' })
  const swap = made(raydiumV4, { accounts: accountsOfSwap, data: bytes(u8(16), u64(1n), u64(1n)) })
  expect(refusal(raydiumV4, swap, transactionOf(swap)).reason).toBe('malformed')
  expect(refusal(raydiumV4, swap, transactionOf(swap, HELD)).reason).toBe('amounts_unknown')
})
