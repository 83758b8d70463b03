import { describe, expect, test } from 'vitest'
import {
  eventDiscriminator,
  instructionDiscriminator,
} from '../../../../../../services/ingest/decode/solana/instruction/read-instruction.js'
import { raydiumClmm } from '../../../../../../services/ingest/decode/solana/programs/raydium/raydium-clmm.js'
import { describeRecorded } from '../../../../../rig/recordings.js'
import { garble } from '../../garble.js'
import { describeGenerated } from '../../generated-cases.js'
import {
  bytes,
  decoded,
  type Held,
  hex,
  i32,
  key,
  made,
  refusal,
  type Sent,
  transactionOf,
  u8,
  u64,
  u128,
  WRAPPED_SOL,
} from '../../instruction-rig.js'
import { legOf, realLegs } from '../../real-legs.js'
import { sharedJson } from '../../real-transactions.js'

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const ORE = 'oreoU2P8bN6jkk3jbaiVxYnG1dCXcYxwhwyK9jSybcp'
const POOL = 'CYbD9RaToYMtWKA7QZyoLahnHdWq553Vm62Lh6qWtuxq'
const OTHER_POOL = '945czrk5A4uSUH46xE8PLz4SMjqLXPDKqAyaGvA76bUg'
const poolOf = (pool: string, token0: string, token1: string) => ({
  ...{ pool, amm: 'raydiumclmm', token0, token1, fee: null, creator: null },
})

function named(name: string, ...fields: readonly Uint8Array[]): Uint8Array {
  return bytes(hex(instructionDiscriminator(name)), ...fields)
}

function reported(name: string, ...fields: readonly Uint8Array[]): Uint8Array {
  return bytes(hex(eventDiscriminator(name)), ...fields)
}

type Amounts = readonly [arrived0: bigint, withheld0: bigint, arrived1: bigint, withheld1: bigint]

function swapEvent(pool: string, isZeroIn: boolean, amounts: Amounts, sqrtPrice: bigint): Uint8Array {
  const parties = [key(pool), key(POOL), key(POOL), key(POOL)]
  return reported(
    'SwapEvent',
    ...parties,
    ...amounts.map(u64),
    u8(isZeroIn ? 1 : 0),
    u128(sqrtPrice),
    u128(9n),
    i32(-7),
  )
}

type Fixture = { accounts: { pubkey: string; label?: string }[]; data: string }

/** A recorded instruction, and its accounts by name. */
function recorded(name: string): { accounts: string[]; data: Uint8Array; at: (label: string) => string } {
  const { accounts, data } = sharedJson(`carbon/raydium-clmm-decoder/${name}_ix.json`) as Fixture
  const at = (label: string) => accounts.find((each) => each.label === label)?.pubkey ?? ''
  return { accounts: accounts.map(({ pubkey }) => pubkey), data: hex(data), at }
}

describeGenerated(raydiumClmm, 'raydiumclmm')

describeRecorded('Raydium CLMM on mainnet', 12, () => {
  const legs = realLegs(raydiumClmm)

  test('decodes a complete swap called by Jupiter', () => {
    const { instruction, transaction } = legOf(legs, 'vRYNRDqs')
    expect(decoded(raydiumClmm, instruction, transaction)).toEqual([
      {
        kind: 'swap',
        pool: poolOf(POOL, WRAPPED_SOL, USDC),
        sender: '6x7TpDvJsBYnsh66HTDo6PqJ7dNV7fTtMw5vGgWnRiY6',
        recipient: '6x7TpDvJsBYnsh66HTDo6PqJ7dNV7fTtMw5vGgWnRiY6',
        tokenIn: USDC,
        amountIn: 472821137n,
        tokenOut: WRAPPED_SOL,
        amountOut: 2092254175n,
        reserve0: 5496826423607n,
        reserve1: 1367724323864n,
        sqrtPrice: 8768549142856542986n,
      },
    ])
  })

  test('decodes a swap called by OKX; without its event only the price is missing', () => {
    const { instruction, transaction } = legOf(legs, 'OKXDEX_swap_0')
    const [swap] = decoded(raydiumClmm, instruction, transaction)
    expect(swap).toMatchObject({
      pool: poolOf(
        'HMqacQogqMpdux9DgbZQ75saxmSYGF4dMcpuLNYQdNU6',
        WRAPPED_SOL,
        'ED5nyyWEzpPPiWimP8vYm7sD7TD3LAt3Q3gRTWHzPJBY',
      ),
      amountIn: 15742n,
      amountOut: 74619n,
      sqrtPrice: 40569989530277096749n,
    })
    const silent = { ...instruction, programData: null }
    expect(decoded(raydiumClmm, silent, transaction)).toEqual([{ ...swap, sqrtPrice: null }])
  })

  test('rejects random data in any field without another error', () => {
    const { decoded: whole, refused } = garble(raydiumClmm, legs, { seed: 6, times: 4_000 })
    expect(whole).toBeGreaterThan(200)
    expect(refused).toBeGreaterThan(800)
  })

  test('decodes a recorded creation', () => {
    const { accounts, data } = recorded('create_pool')
    const instruction = made(raydiumClmm, { accounts, data })
    const pool = poolOf(
      '7ypbduGATyfEhTCMCLhhGtCTsPudEKTbMgJfA5gS44Qh',
      '6NcdiK8B5KK2DzKvzvCfqi8EHaEqu48fyEzC8Mm9pump',
      USDC,
    )
    const creator = '7XiakBmwHdVVXmPKjT35JFDUMzP8aszSg3tU4SaL16KU'
    expect(decoded(raydiumClmm, instruction, transactionOf(instruction))).toEqual([
      { kind: 'pool', pool: { ...pool, creator } },
    ])
  })

  test('a recorded swap_v2 with a transfer fee reports what left the wallet and what reached it', () => {
    const { accounts, data, at } = recorded('swap_v2')
    const [tokenIn, tokenOut] = [at('inputVaultMint'), at('outputVaultMint')]
    const sent = [
      { mint: tokenIn, source: at('inputTokenAccount'), destination: at('inputVault'), amount: 1000n },
      { mint: tokenOut, source: at('outputVault'), destination: at('outputTokenAccount'), amount: 70n },
    ]
    // Wrapped SOL sorts first: it is token 0 and the output.
    const instruction = made(raydiumClmm, {
      ...{ accounts, data, sent },
      programData: [swapEvent(at('poolState'), false, [68n, 2n, 990n, 10n], 5n)],
    })
    const held: Held[] = [
      { account: at('outputTokenAccount'), mint: tokenOut, owner: ORE, pre: 0n, post: 68n },
      { account: at('outputVault'), mint: tokenOut, owner: POOL, pre: 170n, post: 100n },
      { account: at('inputVault'), mint: tokenIn, owner: POOL, pre: 10n, post: 1000n },
    ]
    expect(decoded(raydiumClmm, instruction, transactionOf(instruction, held))).toEqual([
      {
        kind: 'swap',
        pool: poolOf(at('poolState'), tokenOut, tokenIn),
        sender: at('payer'),
        recipient: ORE,
        ...{ tokenIn, amountIn: 1000n, tokenOut, amountOut: 68n },
        ...{ reserve0: 100n, reserve1: 1000n, sqrtPrice: 5n },
      },
    ])
    const wrongWay = { ...instruction, programData: [swapEvent(at('poolState'), true, [68n, 2n, 990n, 10n], 5n)] }
    expect(refusal(raydiumClmm, wrongWay, transactionOf(wrongWay, held)).reason).toBe('disagreement')
    const elsewhere = { ...instruction, programData: [swapEvent(POOL, false, [68n, 2n, 990n, 10n], 5n)] }
    expect(refusal(raydiumClmm, elsewhere, transactionOf(elsewhere, held)).reason).toBe('disagreement')
  })

  describe('recorded instructions of positions', () => {
    const opened = (pool: string) =>
      reported(
        'CreatePersonalPositionEvent',
        ...[key(pool), key(POOL), key(POOL), i32(1), i32(2), u128(3n)],
        ...[u64(85n), u64(45n), u64(5n), u64(0n)],
      )
    const increased = reported('IncreaseLiquidityEvent', key(POOL), u128(3n), u64(85n), u64(45n), u64(5n), u64(0n))

    test.each([
      ['open_position', opened, 'payer'],
      ['open_position_v2', opened, 'payer'],
      ['open_position_with_token22_nft', opened, 'payer'],
      ['increase_liquidity', () => increased, 'nftOwner'],
      ['increase_liquidity_v2', () => increased, 'nftOwner'],
    ] as const)('%s adds', (name, event, sender) => {
      const { accounts, data, at } = recorded(name)
      const [vault0, vault1] = [at('tokenVault0'), at('tokenVault1')]
      const sent: Sent[] = [
        { mint: WRAPPED_SOL, source: at('tokenAccount0'), destination: vault0, amount: 90n },
        { mint: USDC, source: at('tokenAccount1'), destination: vault1, amount: 45n },
      ]
      const programData = [event(at('poolState'))]
      const instruction = made(raydiumClmm, { accounts, data, sent, programData })
      const held: Held[] = [
        { account: vault0, mint: WRAPPED_SOL, owner: POOL, pre: 10n, post: 95n },
        { account: vault1, mint: USDC, owner: POOL, pre: 55n, post: 100n },
      ]
      const pool = poolOf(at('poolState'), WRAPPED_SOL, USDC)
      const added = {
        ...{ kind: 'liquidity', pool, change: 'add', sender: at(sender) },
        ...{ amount0: 90n, amount1: 45n, reserve0: 95n, reserve1: 100n },
      }
      expect(decoded(raydiumClmm, instruction, transactionOf(instruction, held))).toEqual([added])
      const silent = { ...instruction, programData: null }
      expect(decoded(raydiumClmm, silent, transactionOf(silent, held))).toEqual([added])
    })

    test.each(['decrease_liquidity', 'decrease_liquidity_v2'])('%s removes, and pays fees separately', (name) => {
      const { accounts, data, at } = recorded(name)
      const [vault0, vault1] = [at('tokenVault0'), at('tokenVault1')]
      const decreased = (amount0: bigint, amount1: bigint) =>
        reported(
          'DecreaseLiquidityEvent',
          ...[key(POOL), u128(3n), u64(amount0), u64(amount1), u64(90n - amount0), u64(45n - amount1)],
          ...[u64(1n), u64(2n), u64(3n), u64(0n), u64(0n)],
        )
      const sent: Sent[] = [
        { mint: WRAPPED_SOL, source: vault0, destination: at('recipientTokenAccount0'), amount: 90n },
        { mint: USDC, source: vault1, destination: at('recipientTokenAccount1'), amount: 45n },
      ]
      const instruction = made(raydiumClmm, { accounts, data, sent, programData: [decreased(80n, 44n)] })
      const held: Held[] = [
        { account: vault0, mint: WRAPPED_SOL, owner: POOL, pre: 190n, post: 100n },
        { account: vault1, mint: USDC, owner: POOL, pre: 55n, post: 10n },
      ]
      expect(decoded(raydiumClmm, instruction, transactionOf(instruction, held))).toEqual([
        {
          ...{
            kind: 'liquidity',
            pool: poolOf(at('poolState'), WRAPPED_SOL, USDC),
            change: 'remove',
            sender: at('nftOwner'),
          },
          ...{ amount0: 80n, amount1: 44n, reserve0: 100n, reserve1: 10n },
        },
      ])
      const onlyFees = { ...instruction, programData: [decreased(0n, 0n)] }
      expect(decoded(raydiumClmm, onlyFees, transactionOf(onlyFees, held))).toEqual([])
      const silent = { ...instruction, programData: null }
      expect(refusal(raydiumClmm, silent, transactionOf(silent, held)).reason).toBe('amounts_unknown')
    })
  })
})

describe('a route of two hops', () => {
  const hop = (pool: string, output: string, vaults: readonly [string, string], mint: string) => [
    ...['config', pool, output, ...vaults, mint, 'observation', 'ticks', 'ticks'],
  ]
  const accounts = [
    ...['payer', 'account0', WRAPPED_SOL, 'program', 'program22', 'memo'],
    ...hop(POOL, 'account1', ['vaultA0', 'vaultA1'], USDC),
    ...hop(OTHER_POOL, 'account2', ['vaultB1', 'vaultB2'], ORE),
  ]
  const sent: Sent[] = [
    { mint: WRAPPED_SOL, source: 'account0', destination: 'vaultA0', amount: 100n },
    { mint: USDC, source: 'vaultA1', destination: 'account1', amount: 50n },
    { mint: USDC, source: 'account1', destination: 'vaultB1', amount: 50n },
    { mint: ORE, source: 'vaultB2', destination: 'account2', amount: 7n },
  ]
  const data = named('swap_router_base_in', u64(100n), u64(1n))
  const programData = [
    swapEvent(POOL, true, [100n, 0n, 50n, 0n], 11n),
    swapEvent(OTHER_POOL, false, [7n, 0n, 50n, 0n], 12n),
  ]
  const instruction = made(raydiumClmm, { accounts, data, sent, programData })
  const held: Held[] = [
    { account: 'account2', mint: ORE, owner: 'other', pre: 0n, post: 7n },
    { account: 'vaultA0', mint: WRAPPED_SOL, owner: POOL, pre: 0n, post: 100n },
    { account: 'vaultA1', mint: USDC, owner: POOL, pre: 60n, post: 10n },
  ]
  const first = {
    ...{ kind: 'swap', pool: poolOf(POOL, WRAPPED_SOL, USDC), sender: 'payer', recipient: 'payer' },
    ...{ tokenIn: WRAPPED_SOL, amountIn: 100n, tokenOut: USDC, amountOut: 50n },
    ...{ reserve0: 100n, reserve1: 10n, sqrtPrice: 11n },
  }
  const second = {
    ...{ kind: 'swap', pool: poolOf(OTHER_POOL, ORE, USDC), sender: 'payer', recipient: 'other' },
    ...{ tokenIn: USDC, amountIn: 50n, tokenOut: ORE, amountOut: 7n },
    ...{ reserve0: null, reserve1: null, sqrtPrice: 12n },
  }

  test('is a swap in each pool', () => {
    expect(decoded(raydiumClmm, instruction, transactionOf(instruction, held))).toMatchObject([first, second])
    const silent = { ...instruction, programData: null }
    expect(decoded(raydiumClmm, silent, transactionOf(silent, held))).toMatchObject([
      { ...first, sqrtPrice: null },
      { ...second, sqrtPrice: null },
    ])
  })

  test('is rejected if events and transfers differ, or a hop’s pool is not among the accounts', () => {
    const short = { ...instruction, programData: programData.slice(1) }
    expect(refusal(raydiumClmm, short, transactionOf(short, held)).reason).toBe('disagreement')
    const odd = { ...instruction, inner: instruction.inner.slice(1) }
    expect(refusal(raydiumClmm, odd, transactionOf(odd, held)).reason).toBe('amounts_unknown')
    const elsewhere = { ...instruction, accounts: accounts.map((each) => (each === 'vaultB1' ? 'vaultX' : each)) }
    expect(refusal(raydiumClmm, elsewhere, transactionOf(elsewhere, held)).reason).toBe('malformed')
  })
})
