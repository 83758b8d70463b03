import { describe, expect, it } from 'vitest'
import { payloadOf } from '../../../../../../services/ingest/decode/solana/instruction/read-instruction.js'
import { TOKEN, TOKEN_2022, WRAPPED_SOL } from '../../../../../../services/ingest/decode/solana/native-programs.js'
import { meteoraDammV2 } from '../../../../../../services/ingest/decode/solana/programs/meteora/meteora-damm-v2.js'
import { dammV2Swap } from '../../../../../../services/ingest/decode/solana/programs/meteora/meteora-damm-v2-events.js'
import { describeRecorded } from '../../../../../rig/recordings.js'
import {
  borsh,
  built,
  callData,
  decoded,
  eventData,
  hex,
  key,
  moved,
  places,
  reported,
  transactionOf,
} from '../../anchor-calls.js'
import { garble } from '../../garble.js'
import { describeGenerated } from '../../generated-cases.js'
import { callsOf } from '../../real-legs.js'
import { parsed, realTransaction } from '../../real-transactions.js'

const DAMM = 'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG'
const RECORDED = 'N2jtQtjjoa6xP7DT2pSEno4umH8GUH8y94raw1qd32hUkaV2rRtDgvD3kMZxYALg63pdELiBhhoYUyZBFT8Tm3k'
const real = () => parsed(realTransaction(`vixen/tests__fixtures__${RECORDED}_txupdate.json`))

const [pool, a, b, user] = [key('pool'), key('A'), key('B'), key('user')]
const [vaultA, vaultB, accountA, accountB] = [key('vault A'), key('vault B'), key('account A'), key('account B')]
const poolOf = (fee: number | null = null, creator: string | null = null) => ({
  ...{ pool, amm: 'meteoradammv2', token0: a, token1: b, fee, creator },
})
const { u64, u128 } = borsh

const swapAccounts = (tokenProgram: string) =>
  places(14, {
    ...{ 1: pool, 2: accountA, 3: accountB, 4: vaultA, 5: vaultB, 6: a, 7: b, 8: user },
    ...{ 9: tokenProgram, 10: tokenProgram },
  })

/** 1,000 of A in, 50 withheld on the way; 900 of B out, 45 withheld. */
const swap2Event = (direction: number) =>
  eventData(
    'EvtSwap2',
    ...[borsh.key(pool), borsh.u8(direction), borsh.u8(0), borsh.bool(false)],
    ...[u64(1_000n), u64(1n), borsh.u8(0)],
    ...[u64(950n), u64(940n), u64(0n), u64(900n), u128(7n << 64n), u64(8n), u64(2n), u64(0n), u64(0n)],
    ...[u64(1_000n), u64(900n), u64(855n), u64(1_757_147_731n), u64(5_000n), u64(6_000n)],
  )

function createdEvent(periods: number, isDynamic: boolean): Uint8Array {
  const baseFee = [u64(2_500_000n), borsh.u16(periods), u64(60n), u64(5n), borsh.u8(1)]
  const dynamic = isDynamic ? [borsh.bool(true), borsh.zeros(32)] : [borsh.bool(false)]
  return eventData(
    'EvtInitializePool',
    ...[pool, a, b, key('creator'), user, key('alpha vault')].map(borsh.key),
    ...[...baseFee, borsh.zeros(3), ...dynamic],
    ...[u128(1n), u128(2n), borsh.u8(0), borsh.u8(0), u128(3n), u128(4n), u64(5n), borsh.u8(0), borsh.u8(0)],
    ...[u64(95n), u64(190n), u64(100n), u64(200n), borsh.u8(0)],
  )
}

describeGenerated(meteoraDammV2, 'meteoradammv2')

describe('the swap event', () => {
  it('has all its fields in the first version, from recorded bytes', () => {
    const payload = hex(
      'e445a52e51cb9a1d1b3c15d58aaabb9361eb363b6c0f73437a18891ec65e5a1f20fbbdd8870656657d3167e04d4830a5010000c2eb0b00000000ccc0a13a8c7f0000ee64bf1c6f8d0000e83e7db166ee49000000000000000000544b1d0000000000d4520700000000000000000000000000000000000000000000c2eb0b0000000053f2bb6800000000',
    )
    const [instruction] = transactionOf([
      built(DAMM, [], new Uint8Array(0), [reported(DAMM, payloadOf(payload))]),
    ]).instructions
    if (instruction === undefined) throw new Error('no instruction')
    expect(dammV2Swap(instruction)).toEqual({
      ...{ pool: '7bEa1teiLKdRbEopnCWjDdcvAAAnaHuiRiPErUKhLybS', isAIn: false, amountIn: 200_000_000n },
      ...{ amountOut: 155_508_363_191_534n, nextSqrtPrice: 20_809_798_131_728_104n },
      ...{ fees: [1_919_828n, 479_956n, 0n, 0n], timestamp: 1_757_147_731n, reserves: null },
    })
  })
})

describeRecorded('a recorded transaction', 2, () => {
  it('gives the complete swap', () => {
    const [token, sender] = [
      'DkYf3LhSyryKVKprEnQCDWZFfnBEPsDE6msaECXsJEYn',
      '662xQjMAajev8gMfddRwp4sv5pBumgkSTyHvciFfvqXM',
    ]
    const address = 'CtNzfCHW6CPXD4d2C7K8PTJjUovK24UG8iJ1CEdGKH4J'
    expect(decoded(meteoraDammV2, real())).toEqual([
      {
        kind: 'swap',
        pool: { ...poolOf(), pool: address, token0: WRAPPED_SOL, token1: token },
        ...{ sender, recipient: sender, tokenIn: token, amountIn: 317_402_632n },
        ...{ tokenOut: WRAPPED_SOL, amountOut: 954_234_486n, sqrtPrice: 10_666_988_430_125_367_973n },
        ...{ reserve0: 122_282_113_791n, reserve1: 166_360_441_609n },
      },
    ])
  })

  it('rejects random data without another error', () => {
    const calls = [swap2Event(0), createdEvent(0, false)].map((event) =>
      transactionOf([built(DAMM, swapAccounts(TOKEN), callData('swap2'), [reported(DAMM, event)])]),
    )
    expect(
      garble(meteoraDammV2, callsOf(meteoraDammV2, [real(), ...calls]), { seed: 7, times: 2_000 }).refused,
    ).toBeGreaterThan(200)
  })
})

describe('calls without a recording', () => {
  const sent = [moved(a, accountA, vaultA, 1_000n), moved(b, vaultB, accountB, 900n, 45n)]

  it.each(['swap', 'swap2'])(
    '%s reports what left the trader and what reached them, and reserves without fees',
    (name) => {
      const call = built(DAMM, swapAccounts(TOKEN_2022), callData(name), [...sent, reported(DAMM, swap2Event(0))])
      expect(decoded(meteoraDammV2, transactionOf([call]))).toEqual([
        {
          ...{ kind: 'swap', pool: poolOf(), sender: user, recipient: user, sqrtPrice: 7n << 64n },
          ...{ tokenIn: a, amountIn: 1_000n, tokenOut: b, amountOut: 855n, reserve0: 5_000n, reserve1: 6_000n },
        },
      ])
    },
  )

  it('a swap against the direction of its transfers is rejected', () => {
    const call = built(DAMM, swapAccounts(TOKEN), callData('swap2'), [...sent, reported(DAMM, swap2Event(1))])
    expect(() => decoded(meteoraDammV2, transactionOf([call]))).toThrow('is 1000 in the event and 0 in the transfers')
  })

  const change = (type: number) =>
    eventData(
      'EvtLiquidityChange',
      ...[borsh.key(pool), borsh.key(key('position')), borsh.key(user)],
      ...[u64(95n), u64(190n), u64(100n), u64(200n), u64(7_000n), u64(8_000n)],
      ...[u128(5n), u64(0n), u64(0n), borsh.u8(type)],
    )
  const adding = places(14, {
    ...{ 0: pool, 2: accountA, 3: accountB, 4: vaultA, 5: vaultB, 6: a, 7: b, 9: user, 10: TOKEN, 11: TOKEN },
  })
  const removing = places(15, {
    ...{ 1: pool, 3: accountA, 4: accountB, 5: vaultA, 6: vaultB, 7: a, 8: b, 10: user, 11: TOKEN, 12: TOKEN },
  })
  const step = { kind: 'liquidity', pool: poolOf(), sender: user }

  it('adds what was sent', () => {
    const inner = [moved(a, accountA, vaultA, 100n), moved(b, accountB, vaultB, 200n), reported(DAMM, change(0))]
    expect(decoded(meteoraDammV2, transactionOf([built(DAMM, adding, callData('add_liquidity'), inner)]))).toEqual([
      { ...step, change: 'add', amount0: 100n, amount1: 200n, reserve0: 7_000n, reserve1: 8_000n },
    ])
  })

  it.each(['remove_liquidity', 'remove_all_liquidity'])('%s removes', (name) => {
    const inner = [moved(a, vaultA, accountA, 95n), moved(b, vaultB, accountB, 190n), reported(DAMM, change(1))]
    expect(decoded(meteoraDammV2, transactionOf([built(DAMM, removing, callData(name), inner)]))).toEqual([
      { ...step, change: 'remove', amount0: 95n, amount1: 190n, reserve0: 7_000n, reserve1: 8_000n },
    ])
    const opposite = built(DAMM, removing, callData(name), [reported(DAMM, change(0))])
    expect(() => decoded(meteoraDammV2, transactionOf([opposite]))).toThrow(
      'the instruction removes liquidity, the event adds it',
    )
  })

  it('reads the first versions too, and then takes reserves from the vaults', () => {
    const amounts = [u64(95n), u64(190n), u64(100n), u64(200n)]
    const old = (name: string) =>
      eventData(name, borsh.key(pool), borsh.key(key('position')), borsh.key(user), borsh.zeros(32), ...amounts)
    const inner = [
      moved(a, accountA, vaultA, 100n),
      moved(b, accountB, vaultB, 200n),
      reported(DAMM, old('EvtAddLiquidity')),
    ]
    const held = [
      { account: vaultA, mint: a, owner: null, before: 1n, after: 101n },
      { account: vaultB, mint: b, owner: null, before: 2n, after: 202n },
    ]
    expect(
      decoded(meteoraDammV2, transactionOf([built(DAMM, adding, callData('add_liquidity'), inner)], held)),
    ).toEqual([{ ...step, change: 'add', amount0: 100n, amount1: 200n, reserve0: 101n, reserve1: 202n }])
  })

  it.each([
    ['initialize_pool', 6, 12, 10, 8, 14],
    ['initialize_customizable_pool', 5, 11, 9, 7, 13],
    ['initialize_pool_with_dynamic_config', 7, 13, 11, 9, 15],
  ])('%s creates a pool with its first liquidity', (name, at, accounts, vaults, mints, programs) => {
    const given = {
      ...{
        3: user,
        [at]: pool,
        [accounts]: accountA,
        [accounts + 1]: accountB,
        [vaults]: vaultA,
        [vaults + 1]: vaultB,
      },
      ...{ [mints]: a, [mints + 1]: b, [programs]: TOKEN, [programs + 1]: TOKEN },
    }
    const inner = [moved(a, accountA, vaultA, 100n), moved(b, accountB, vaultB, 200n)]
    const create = (event: Uint8Array) =>
      decoded(
        meteoraDammV2,
        transactionOf([built(DAMM, places(21, given), callData(name), [...inner, reported(DAMM, event)])]),
      )
    const described = poolOf(2_500, key('creator'))
    expect(create(createdEvent(0, false))).toEqual([
      { kind: 'pool', pool: described },
      { ...step, pool: described, change: 'create', amount0: 100n, amount1: 200n, reserve0: null, reserve1: null },
    ])
    expect(create(createdEvent(12, false))[0]).toEqual({ kind: 'pool', pool: poolOf(null, key('creator')) })
    expect(create(createdEvent(0, true))[0]).toEqual({ kind: 'pool', pool: poolOf(null, key('creator')) })
  })

  it('reserves exclude fees, so claiming them changes nothing', () => {
    const inner = [moved(a, vaultA, accountA, 5n)]
    expect(
      decoded(meteoraDammV2, transactionOf([built(DAMM, removing, callData('claim_position_fee'), inner)])),
    ).toEqual([])
  })
})
