import { expect, test } from 'vitest'
import {
  eventDiscriminator,
  instructionDiscriminator,
} from '../../../../../../services/ingest/decode/solana/instruction/read-instruction.js'
import { whirlpool } from '../../../../../../services/ingest/decode/solana/programs/orca/whirlpool.js'
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
} from '../../instruction-rig.js'
import { legOf, realLegs } from '../../real-legs.js'
import { sharedJson } from '../../real-transactions.js'

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const POOL = '4NRNNzycXvMUaZ9GibE7jzZC18hL2QEfQQSA81m3bfvr'
const poolOf = (pool: string, token0: string, token1: string) => ({
  ...{ pool, amm: 'orca', token0, token1, fee: null, creator: null },
})

function reported(name: string, ...fields: readonly Uint8Array[]): Uint8Array {
  return bytes(hex(eventDiscriminator(name)), ...fields)
}

/** `fees`: transfer fees in and out. */
function traded(pool: string, isAIn: boolean, amounts: readonly [bigint, bigint], fees = [0n, 0n]): Uint8Array {
  const prices = [u128(10n), u128(11n)]
  return reported('Traded', key(pool), u8(isAIn ? 1 : 0), ...prices, ...[...amounts, ...fees, 3n, 4n].map(u64))
}

type Fixture = { accounts: { pubkey: string; label?: string }[]; data: string }

/** A recorded instruction, and its accounts by name. */
function recorded(name: string): { accounts: string[]; data: Uint8Array; at: (label: string) => string } {
  const { accounts, data } = sharedJson(`carbon/orca-whirlpool-decoder/${name}_ix.json`) as Fixture
  const at = (label: string) => accounts.find((each) => each.label === label)?.pubkey ?? label
  return { accounts: accounts.map(({ pubkey }) => pubkey), data: hex(data), at }
}

const holding = (account: string, mint: string, pre: bigint, post: bigint): Held => ({
  account,
  mint,
  owner: POOL,
  pre,
  post,
})

describeGenerated(whirlpool, 'orca')

describeRecorded('Orca Whirlpools on mainnet', 4, () => {
  const legs = realLegs(whirlpool)

  test('decodes a complete swap with its event', () => {
    const { instruction, transaction } = legOf(legs, 'N5qR3Dcv')
    expect(decoded(whirlpool, instruction, transaction)).toEqual([
      {
        kind: 'swap',
        pool: poolOf(POOL, 'AgMqsVtcjZ2sYuDvoaijyzENN3NMqGYnhqhb224pCCNu', USDC),
        sender: '4xEfonabesEpaqeLBMJcLXrT5di7kVGHMBBRZWWRNfhp',
        recipient: '4xEfonabesEpaqeLBMJcLXrT5di7kVGHMBBRZWWRNfhp',
        tokenIn: USDC,
        amountIn: 1001000000n,
        tokenOut: 'AgMqsVtcjZ2sYuDvoaijyzENN3NMqGYnhqhb224pCCNu',
        amountOut: 7640760418498n,
        reserve0: 39992343988593875n,
        reserve1: 1002998000n,
        sqrtPrice: 211128455603757282n,
      },
    ])
  })

  test('decodes swaps without events, called by Jupiter', () => {
    const swaps = [0, 1].flatMap((at) => {
      const { instruction, transaction } = legOf(legs, 'anchores/1ZSq1Aa2', at)
      return decoded(whirlpool, instruction, transaction)
    })
    expect(swaps).toMatchObject([
      {
        pool: poolOf(
          'FSbZMk5hVaYyWZs8dj1rVZR3YRQVKaMvXmtfUmbjWvKD',
          'RUpbmGF6p42AAeN1QvhFReZejQry1cLkE1PUYFVVpnL',
          USDC,
        ),
        ...{ amountIn: 301729867n, amountOut: 1607n, reserve0: 8055776565716n, reserve1: 49431762n, sqrtPrice: null },
      },
      {
        pool: poolOf(
          'uvkZDCb1mRyffGUfpyTMWegF2mekNtgfNGKReTegUME',
          USDC,
          'EwJN2GqUGXXzYmoAciwuABtorHczTA5LqbukKXV1viH7',
        ),
        ...{ amountIn: 1607n, amountOut: 12839349n, reserve0: 417426036n, reserve1: 27313268283393n, sqrtPrice: null },
      },
    ])
  })

  test('rejects a transfer that differs from the event, with both amounts', () => {
    const { instruction, transaction } = legOf(legs, 'N5qR3Dcv')
    const inner = instruction.inner.map((call, at) =>
      at === 0 && call.transfer !== null ? { ...call, transfer: { ...call.transfer, amount: 1n } } : call,
    )
    const { reason, message } = refusal(whirlpool, { ...instruction, inner }, transaction)
    expect({ reason, message }).toEqual({
      reason: 'disagreement',
      message: 'amount (in): 1001000000 in the event, 1 in the transfers',
    })
  })

  test('rejects random data in any field without another error', () => {
    const { decoded: whole, refused } = garble(whirlpool, legs, { seed: 8, times: 4_000 })
    expect(whole).toBeGreaterThan(200)
    expect(refused).toBeGreaterThan(800)
  })
})

describeRecorded('recorded instructions of Whirlpools', 10, () => {
  test.each([
    ['initialize_pool', 'funder'],
    ['initialize_pool_v2', 'funder'],
  ])('%s', (name, funder) => {
    const { accounts, data, at } = recorded(name)
    const instruction = made(whirlpool, { accounts, data })
    const pool = { ...poolOf(at('whirlpool'), at('tokenMintA'), at('tokenMintB')), creator: at(funder) }
    expect(decoded(whirlpool, instruction, transactionOf(instruction))).toEqual([{ kind: 'pool', pool }])
  })

  test('swap_v2 with a transfer fee reports what left the wallet and what reached it', () => {
    const { accounts, data, at } = recorded('swap_v2')
    const isAIn = data[41] === 1
    const [a, b] = ['A', 'B'].map((token) => ({
      mint: at(`tokenMint${token}`),
      user: at(`tokenOwnerAccount${token}`),
      vault: at(`tokenVault${token}`),
    }))
    if (a === undefined || b === undefined) throw new Error('no sides')
    const [input, output] = isAIn ? [a, b] : [b, a]
    const sent: Sent[] = [
      { mint: input.mint, source: input.user, destination: input.vault, amount: 1000n },
      { mint: output.mint, source: output.vault, destination: output.user, amount: 70n },
    ]
    const event = (way: boolean) => [traded(at('whirlpool'), way, [1000n, 70n], [10n, 2n])]
    const instruction = made(whirlpool, { accounts, data, sent, programData: event(isAIn) })
    expect(decoded(whirlpool, instruction, transactionOf(instruction))).toEqual([
      {
        ...{ kind: 'swap', pool: poolOf(at('whirlpool'), a.mint, b.mint) },
        ...{ sender: at('tokenAuthority'), recipient: at('tokenAuthority') },
        ...{ tokenIn: input.mint, amountIn: 1000n, tokenOut: output.mint, amountOut: 68n },
        ...{ reserve0: null, reserve1: null, sqrtPrice: 11n },
      },
    ])
    const wrongWay = { ...instruction, programData: event(!isAIn) }
    expect(refusal(whirlpool, wrongWay, transactionOf(wrongWay)).reason).toBe('disagreement')
  })

  test('two_hop_swap is a swap in each pool', () => {
    const { accounts, data, at } = recorded('two_hop_swap')
    const ways = [data[25] === 1, data[26] === 1]
    const mints = { One: ['mintX', 'mintY'], Two: ['mintY', 'mintZ'] }
    const hops = (['One', 'Two'] as const).map((hop, n) => {
      const isAIn = ways[n] === true
      const [inLetter, outLetter] = isAIn ? ['A', 'B'] : ['B', 'A']
      const [mintIn = '', mintOut = ''] = mints[hop]
      const [vaultIn, vaultOut] = [at(`tokenVault${hop}${inLetter}`), at(`tokenVault${hop}${outLetter}`)]
      return {
        pool: at(`whirlpool${hop}`),
        isAIn,
        mintIn,
        mintOut,
        vaultIn,
        vaultOut,
        ...usersOf(hop, inLetter, outLetter),
      }
    })
    function usersOf(hop: string, inLetter = '', outLetter = '') {
      return { userIn: at(`tokenOwnerAccount${hop}${inLetter}`), userOut: at(`tokenOwnerAccount${hop}${outLetter}`) }
    }
    const amounts = [100n, 50n, 7n]
    const sent: Sent[] = hops.flatMap(({ mintIn, mintOut, vaultIn, vaultOut, userIn, userOut }, n) => [
      { mint: mintIn, source: userIn, destination: vaultIn, amount: amounts[n] ?? 0n },
      { mint: mintOut, source: vaultOut, destination: userOut, amount: amounts[n + 1] ?? 0n },
    ])
    const programData = hops.map(({ pool, isAIn }, n) => traded(pool, isAIn, [amounts[n] ?? 0n, amounts[n + 1] ?? 0n]))
    const instruction = made(whirlpool, { accounts, data, sent, programData })
    const held = hops.flatMap(({ mintIn, mintOut, vaultIn, vaultOut }, n) => [
      holding(vaultIn, mintIn, 0n, amounts[n] ?? 0n),
      holding(vaultOut, mintOut, 1000n, 1000n - (amounts[n + 1] ?? 0n)),
    ])
    const expected = hops.map(({ pool, isAIn, mintIn, mintOut }, n) => {
      const [amountIn, amountOut] = [amounts[n] ?? 0n, amounts[n + 1] ?? 0n]
      const reserves = [amountIn, 1000n - amountOut]
      const [reserve0, reserve1] = isAIn ? reserves : reserves.toReversed()
      return {
        pool: isAIn ? poolOf(pool, mintIn, mintOut) : poolOf(pool, mintOut, mintIn),
        ...{
          sender: at('tokenAuthority'),
          tokenIn: mintIn,
          amountIn,
          tokenOut: mintOut,
          amountOut,
          reserve0,
          reserve1,
        },
      }
    })
    expect(decoded(whirlpool, instruction, transactionOf(instruction, held))).toMatchObject(expected)
    const silent = { ...instruction, programData: null }
    expect(decoded(whirlpool, silent, transactionOf(silent, held))).toMatchObject(expected)
    const short = { ...instruction, programData: programData.slice(1) }
    expect(refusal(whirlpool, short, transactionOf(short, held)).reason).toBe('disagreement')
  })

  test('two_hop_swap_v2 moves the intermediate token from vault to vault', () => {
    const { accounts, data, at } = recorded('two_hop_swap_v2')
    const [mintIn, between, mintOut] = [at('tokenMintInput'), at('tokenMintIntermediate'), at('tokenMintOutput')]
    const [isAInOne, isAInTwo] = [data[25] === 1, data[26] === 1]
    const sent: Sent[] = [
      { mint: mintIn, source: at('tokenOwnerAccountInput'), destination: at('tokenVaultOneInput'), amount: 100n },
      {
        mint: between,
        source: at('tokenVaultOneIntermediate'),
        destination: at('tokenVaultTwoIntermediate'),
        amount: 50n,
      },
      { mint: mintOut, source: at('tokenVaultTwoOutput'), destination: at('tokenOwnerAccountOutput'), amount: 7n },
    ]
    const programData = [
      traded(at('whirlpoolOne'), isAInOne, [100n, 50n]),
      traded(at('whirlpoolTwo'), isAInTwo, [50n, 7n]),
    ]
    const instruction = made(whirlpool, { accounts, data, sent, programData })
    const one = isAInOne ? poolOf(at('whirlpoolOne'), mintIn, between) : poolOf(at('whirlpoolOne'), between, mintIn)
    const two = isAInTwo ? poolOf(at('whirlpoolTwo'), between, mintOut) : poolOf(at('whirlpoolTwo'), mintOut, between)
    expect(decoded(whirlpool, instruction, transactionOf(instruction))).toMatchObject([
      { pool: one, tokenIn: mintIn, amountIn: 100n, tokenOut: between, amountOut: 50n, sender: at('tokenAuthority') },
      { pool: two, tokenIn: between, amountIn: 50n, tokenOut: mintOut, amountOut: 7n, sender: at('tokenAuthority') },
    ])
  })

  test.each([
    ['increase_liquidity', true],
    ['increase_liquidity_v2', true],
    ['decrease_liquidity', false],
    ['decrease_liquidity_v2', false],
  ])('%s', (name, isAdded) => {
    const { accounts, data, at } = recorded(name)
    const sent: Sent[] = (['A', 'B'] as const).map((token) => {
      const [user, vault] = [at(`tokenOwnerAccount${token}`), at(`tokenVault${token}`)]
      const [source, destination] = isAdded ? [user, vault] : [vault, user]
      return { mint: `mint${token}`, source, destination, amount: token === 'A' ? 90n : 45n }
    })
    const event = reported(
      isAdded ? 'LiquidityIncreased' : 'LiquidityDecreased',
      ...[key(at('whirlpool')), key(at('position')), i32(-1), i32(1), u128(5n)],
      ...[90n, 45n, 1n, 2n].map(u64),
    )
    const instruction = made(whirlpool, { accounts, data, sent, programData: [event] })
    const held = [
      isAdded ? holding(at('tokenVaultA'), 'mintA', 10n, 100n) : holding(at('tokenVaultA'), 'mintA', 190n, 100n),
      isAdded ? holding(at('tokenVaultB'), 'mintB', 5n, 50n) : holding(at('tokenVaultB'), 'mintB', 95n, 50n),
    ]
    const changed = {
      ...{ kind: 'liquidity', pool: poolOf(at('whirlpool'), 'mintA', 'mintB'), change: isAdded ? 'add' : 'remove' },
      ...{ sender: at('positionAuthority'), amount0: 90n, amount1: 45n, reserve0: 100n, reserve1: 50n },
    }
    expect(decoded(whirlpool, instruction, transactionOf(instruction, held))).toEqual([changed])
    const silent = { ...instruction, programData: null }
    expect(decoded(whirlpool, silent, transactionOf(silent, held))).toEqual([changed])
  })

  test('a collected fee is neither a trade nor liquidity', () => {
    const { accounts, data } = recorded('collect_fees')
    const instruction = made(whirlpool, { accounts, data })
    expect(decoded(whirlpool, instruction, transactionOf(instruction))).toEqual([])
  })
})

test('reposition_liquidity_v2 removes from one range and adds to another, transferring the difference', () => {
  const accounts = [
    ...[POOL, 'program', 'program', 'memo', 'owner', 'funder', 'position', 'positionAccount', 'mintA', 'mintB'],
    ...['accountA', 'accountB', 'vaultA', 'vaultB', 'ticks', 'ticks', 'ticks', 'ticks', 'system'],
  ]
  const event = reported(
    'LiquidityRepositioned',
    ...[key(POOL), key(USDC), i32(1), i32(2), i32(3), i32(4), u128(5n), u128(6n)],
    ...[u64(80n), u64(40n), u64(100n), u64(30n)],
    ...[u64(20n), u64(0n), u8(1), u64(10n), u64(0n), u8(0)],
  )
  const instruction = made(whirlpool, {
    accounts,
    data: bytes(hex(instructionDiscriminator('reposition_liquidity_v2')), i32(3), i32(4)),
    sent: [
      { mint: 'mintA', source: 'accountA', destination: 'vaultA', amount: 20n },
      { mint: 'mintB', source: 'vaultB', destination: 'accountB', amount: 10n },
    ],
    programData: [event],
  })
  const held = [holding('vaultA', 'mintA', 100n, 120n), holding('vaultB', 'mintB', 60n, 50n)]
  const change = { kind: 'liquidity', pool: poolOf(POOL, 'mintA', 'mintB'), sender: 'owner' }
  expect(decoded(whirlpool, instruction, transactionOf(instruction, held))).toEqual([
    { ...change, change: 'remove', amount0: 80n, amount1: 40n, reserve0: null, reserve1: null },
    { ...change, change: 'add', amount0: 100n, amount1: 30n, reserve0: 120n, reserve1: 50n },
  ])
  const silent = { ...instruction, programData: null }
  expect(refusal(whirlpool, silent, transactionOf(silent, held)).reason).toBe('amounts_unknown')
})
