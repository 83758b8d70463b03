import { describe, expect, test } from 'vitest'
import {
  eventDiscriminator,
  instructionDiscriminator,
} from '../../../../../../services/ingest/decode/solana/instruction/read-instruction.js'
import {
  cpmmLiquidityOf,
  cpmmSwapOf,
  raydiumCpmm,
} from '../../../../../../services/ingest/decode/solana/programs/raydium/raydium-cpmm.js'
import { describeRecorded } from '../../../../../rig/recordings.js'
import { garble } from '../../garble.js'
import { describeGenerated } from '../../generated-cases.js'
import {
  bytes,
  decoded,
  type Held,
  hex,
  key,
  made,
  refusal,
  transactionOf,
  u8,
  u64,
  WRAPPED_SOL,
} from '../../instruction-rig.js'
import { legOf, realLegs } from '../../real-legs.js'
import { sharedJson } from '../../real-transactions.js'

const POOL = '8THC7UQN8zPXRL61o75fP4gcwRyB5W3o74yHyqarkqZ9'
const TOKEN = '7atgF8KQo4wJrD5ATGX7t1V2zVvykPJbFfNeVf1icFv1'
const HELD: Held[] = [
  { account: 'vault0', mint: WRAPPED_SOL, owner: 'authority', pre: 1000n, post: 1090n },
  { account: 'vault1', mint: TOKEN, owner: 'authority', pre: 500n, post: 545n },
]

function named(name: string, ...fields: readonly Uint8Array[]): Uint8Array {
  return bytes(hex(instructionDiscriminator(name)), ...fields)
}

function reported(name: string, ...fields: readonly Uint8Array[]): Uint8Array {
  return bytes(hex(eventDiscriminator(name)), ...fields)
}

describeGenerated(raydiumCpmm, 'raydiumcpmm')

describeRecorded('Raydium CPMM on mainnet', 5, () => {
  const legs = realLegs(raydiumCpmm)

  test('decodes a complete swap with the current event', () => {
    const { instruction, transaction } = legOf(legs, '4RoVbE9H')
    expect(decoded(raydiumCpmm, instruction, transaction)).toEqual([
      {
        kind: 'swap',
        pool: {
          pool: 'HnrJu2mqgHKUhSmZRnwVPTPUW1GwCxbhggGmuF11oW8G',
          amm: 'raydiumcpmm',
          token0: WRAPPED_SOL,
          token1: '68GdL4q2fNAu7acwrHRjCQwtfvPxXQEFkBihzbKfbonk',
          fee: null,
          creator: null,
        },
        sender: 'BQYLDzRweToQfMTpUztSWZu4wwmdPATL3eJEyxToPzPD',
        recipient: 'BQYLDzRweToQfMTpUztSWZu4wwmdPATL3eJEyxToPzPD',
        tokenIn: '68GdL4q2fNAu7acwrHRjCQwtfvPxXQEFkBihzbKfbonk',
        amountIn: 218686363204n,
        tokenOut: WRAPPED_SOL,
        amountOut: 69520899n,
        // Less than the vaults hold (77044131386 and 241965883428705), because protocol and fund fees are excluded.
        reserve0: 77012127836n,
        reserve1: 241863984819042n,
        sqrtPrice: null,
      },
    ])
  })

  test('decodes a swap called by OKX whose recipient is not the signer', () => {
    const { instruction, transaction } = legOf(legs, 'OKXDEX_swap_0')
    expect(decoded(raydiumCpmm, instruction, transaction)).toMatchObject([
      {
        pool: { pool: POOL, token0: WRAPPED_SOL, token1: TOKEN },
        sender: 'E8oVrS4Pk74ouemj4t6grJ6w5Ah7SFLYa8VoRtvtWpnw',
        recipient: 'HV1KXxWFaSeriyFvXyx48FqG9BoFbfinB8njCJonqP7K',
        tokenIn: TOKEN,
        amountIn: 358800n,
        tokenOut: WRAPPED_SOL,
        amountOut: 15742n,
      },
    ])
  })

  test('without its event, transfers give the same amounts and the vaults give the reserves', () => {
    const { instruction, transaction } = legOf(legs, '4RoVbE9H')
    const silent = { ...instruction, programData: null }
    expect(decoded(raydiumCpmm, silent, transaction)).toMatchObject([
      { amountIn: 218686363204n, amountOut: 69520899n, reserve0: 77044131386n, reserve1: 241965883428705n },
    ])
  })

  test('decodes a recorded event of the first layout, field by field', () => {
    type Payload = { program_test: string; payload_base64: string[] }
    const payloads = sharedJson('pinax/event_payloads.json') as Payload[]
    const [text] = payloads.find((each) => each.program_test.includes('cpmm_swap_event_v1'))?.payload_base64 ?? []
    const instruction = made(raydiumCpmm, {
      accounts: [],
      data: new Uint8Array(0),
      programData: [Buffer.from(text ?? '', 'base64')],
    })
    expect(cpmmSwapOf(instruction)).toEqual({
      pool: '8ZT5BBW3WRpvCwPiadE6jiocQfriMjW7DSfXR2pF6YcT',
      inputBefore: 59486633393n,
      outputBefore: 324181831497470n,
      input: 1287000000n,
      inputTransferFee: 0n,
      output: 6848381008732n,
      outputTransferFee: 0n,
      creatorFee: 0n,
      isCreatorFeeOnInput: false,
    })
  })

  test('rejects random data in any field without another error', () => {
    const { decoded: whole, refused } = garble(raydiumCpmm, legs, { seed: 5, times: 4_000 })
    expect(whole).toBeGreaterThan(200)
    expect(refused).toBeGreaterThan(800)
  })
})

/** Logged by another deployment of the same program. */
test('decodes the event of a deposit, field by field', () => {
  const log =
    'eaPNyTnadTzdhRPKDwus/5Zu2GxjHohlqAXtBbfEKD5ALX5T6bBywABcsuwiAAAAN0A61F0BAAAAzdR9AwAAAAPvGgtcAQAAXdREeQMAAAAAAAAAAAAAAAAAAAAAAAAAAA=='
  const instruction = made(raydiumCpmm, {
    accounts: [],
    data: new Uint8Array(0),
    programData: [Buffer.from(log, 'base64')],
  })
  expect(cpmmLiquidityOf(instruction)).toEqual({
    pool: 'Fuio8szoWpPpoKhDUrNueMqb2wgyQN3oTvHh838BM1tK',
    isDeposit: true,
    amounts: [1494834933507n, 14919455837n],
    before: [1502504173623n, 14996000000n],
    toVaults: [1494834933507n, 14919455837n],
  })
})

const SWAP_ACCOUNTS = [
  ...['payer', 'authority', 'config', POOL, 'input', 'output', 'vault1', 'vault0'],
  ...['program', 'program', TOKEN, WRAPPED_SOL, 'observation'],
]

test('transfer fees: reports what left the wallet and what reached it; reserves exclude the creator’s fee', () => {
  const instruction = made(raydiumCpmm, {
    accounts: SWAP_ACCOUNTS,
    data: named('swap_base_input', u64(100n), u64(1n)),
    sent: [
      { mint: TOKEN, source: 'input', destination: 'vault1', amount: 100n },
      { mint: WRAPPED_SOL, source: 'vault0', destination: 'output', amount: 50n },
    ],
    programData: [
      reported(
        'SwapEvent',
        ...[key(POOL), u64(500n), u64(1000n), u64(95n), u64(50n), u64(5n), u64(2n), u8(1)],
        ...[key(TOKEN), key(WRAPPED_SOL), u64(3n), u64(1n), u8(0)],
      ),
    ],
  })
  expect(decoded(raydiumCpmm, instruction, transactionOf(instruction))).toEqual([
    {
      kind: 'swap',
      pool: { pool: POOL, amm: 'raydiumcpmm', token0: WRAPPED_SOL, token1: TOKEN, fee: null, creator: null },
      sender: 'payer',
      recipient: 'payer',
      tokenIn: TOKEN,
      amountIn: 100n,
      tokenOut: WRAPPED_SOL,
      amountOut: 48n,
      reserve0: 949n,
      reserve1: 595n,
      sqrtPrice: null,
    },
  ])
  const other = { ...instruction, accounts: SWAP_ACCOUNTS.with(3, TOKEN) }
  expect(refusal(raydiumCpmm, other, transactionOf(other)).reason).toBe('disagreement')
})

describe('liquidity', () => {
  const accounts = [
    ...['owner', 'authority', POOL, 'lp', 'account0', 'account1', 'vault0', 'vault1'],
    ...['program', 'program22', WRAPPED_SOL, TOKEN, 'lpMint', 'memo'],
  ]
  const pool = { pool: POOL, amm: 'raydiumcpmm', token0: WRAPPED_SOL, token1: TOKEN, fee: null, creator: null }

  test.each([
    ['deposit', 0, 'add', 980n, 493n],
    ['withdraw', 1, 'remove', 810n, 405n],
  ] as const)('a %s', (name, changeType, change, reserve0, reserve1) => {
    const isDeposit = changeType === 0
    const sent = (account: string, vault: string, mint: string, amount: bigint) =>
      isDeposit
        ? { mint, source: account, destination: vault, amount }
        : { mint, source: vault, destination: account, amount }
    const event = (type: number) =>
      reported(
        'LpChangeEvent',
        ...[key(POOL), u64(77n), u64(900n), u64(450n)],
        // The amount that arrives and the amount withheld.
        ...[u64(80n), u64(43n), u64(10n), u64(2n), u8(type)],
      )
    const instruction = made(raydiumCpmm, {
      accounts,
      data: named(name, u64(7n), u64(1000n), u64(1000n)),
      sent: [sent('account0', 'vault0', WRAPPED_SOL, 90n), sent('account1', 'vault1', TOKEN, 45n)],
      programData: [event(changeType)],
    })
    const transaction = transactionOf(instruction, HELD)
    expect(decoded(raydiumCpmm, instruction, transaction)).toEqual([
      { kind: 'liquidity', pool, change, sender: 'owner', amount0: 90n, amount1: 45n, reserve0, reserve1 },
    ])
    const other = { ...instruction, programData: [event(1 - changeType)] }
    expect(refusal(raydiumCpmm, other, transaction).reason).toBe('disagreement')
  })

  test.each([
    [
      'initialize',
      [
        'creator',
        'config',
        'authority',
        POOL,
        WRAPPED_SOL,
        TOKEN,
        'lpMint',
        'account0',
        'account1',
        'lp',
        'vault0',
        'vault1',
      ],
    ],
    [
      'initialize_with_permission',
      [
        ...['payer', 'creator', 'config', 'authority', POOL, WRAPPED_SOL, TOKEN, 'lpMint'],
        ...['account0', 'account1', 'lp', 'vault0', 'vault1'],
      ],
    ],
  ])('%s creates a pool with what is sent to it', (name, places) => {
    const instruction = made(raydiumCpmm, {
      accounts: places,
      data: named(name, u64(90n), u64(45n), u64(0n)),
      sent: [
        { mint: WRAPPED_SOL, source: 'account0', destination: 'vault0', amount: 90n },
        { mint: TOKEN, source: 'account1', destination: 'vault1', amount: 45n },
      ],
    })
    const held: Held[] = [
      { account: 'vault0', mint: WRAPPED_SOL, owner: 'authority', pre: null, post: 90n },
      { account: 'vault1', mint: TOKEN, owner: 'authority', pre: null, post: 45n },
    ]
    const opened = { ...pool, creator: 'creator' }
    expect(decoded(raydiumCpmm, instruction, transactionOf(instruction, held))).toEqual([
      { kind: 'pool', pool: opened },
      {
        kind: 'liquidity',
        pool: opened,
        change: 'create',
        sender: places[0],
        ...{ amount0: 90n, amount1: 45n, reserve0: 90n, reserve1: 45n },
      },
    ])
  })
})
