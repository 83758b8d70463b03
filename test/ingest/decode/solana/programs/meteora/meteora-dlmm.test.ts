import { describe, expect, it } from 'vitest'
import { payloadOf } from '../../../../../../services/ingest/decode/solana/instruction/read-instruction.js'
import { meteoraDlmm } from '../../../../../../services/ingest/decode/solana/programs/meteora/meteora-dlmm.js'
import { dlmmSwap } from '../../../../../../services/ingest/decode/solana/programs/meteora/meteora-dlmm-events.js'
import { describeRecorded } from '../../../../../rig/recordings.js'
import { borsh, built, decoded, eventData, hex, key, reported, transactionOf } from '../../anchor-calls.js'
import { DLMM, liquidityEvent, poolOf, recorded, recordedNames, swapEvent } from '../../dlmm-calls.js'
import { garble } from '../../garble.js'
import { describeGenerated } from '../../generated-cases.js'
import { callsOf } from '../../real-legs.js'
import { parsed, realTransaction, sharedJson } from '../../real-transactions.js'

const SOL = 'So11111111111111111111111111111111111111112'

describeGenerated(meteoraDlmm, 'meteora')

describe('the swap event', () => {
  it('has all its fields', () => {
    const payload = hex(
      'e445a52e51cb9a1d516ce3becdd00ac471739c6f45944a0e56b3a0f9b2399f421b0a82b56c5b87acc78023b8ed27cc7cf74ba51f6820a847117a8fad48c80ae298e20bf37ff35e7ae8c7b85272b5010701feffff01feffff1f660a0000000000702c000000000000016037000000000000c40200000000000000623d010000000000000000000000000000000000000000',
    )
    const swap = built(DLMM, [], new Uint8Array(0), [reported(DLMM, payloadOf(payload))])
    const [instruction] = transactionOf([swap]).instructions
    if (instruction === undefined) throw new Error('no instruction')
    expect(dlmmSwap(instruction)).toEqual({
      ...{ pool: '8dsKNwMDMh1Vfr4YevzRY9oDS7N29fRHpPXcoDmUVSBd', from: 'HeLbvj7KM5fkduCdiufTa5SmVtuuVjySPps7dnp2pDZG' },
      ...{ startBin: -511, endBin: -511, isForY: true, amountIn: 681_503n, amountOut: 11_376n },
      ...{ fee: 14_176n, protocolFee: 708n, feeRate: 20_800_000n, hostFee: 0n },
    })
  })

  it('is read from the second version if the first is missing', () => {
    const event = eventData(
      'Swap2Evt',
      ...[
        borsh.key(key('pair')),
        borsh.key(key('user')),
        borsh.i32(4),
        borsh.i32(-4),
        borsh.bool(false),
        borsh.u128(9n),
      ],
      ...[100n, 0n, 90n, 4n, 3n, 2n, 1n].map(borsh.u64),
      ...[borsh.bool(true), borsh.bool(false)],
    )
    const [instruction] = transactionOf([built(DLMM, [], new Uint8Array(0), [reported(DLMM, event)])]).instructions
    if (instruction === undefined) throw new Error('no instruction')
    expect(dlmmSwap(instruction)).toEqual({
      ...{
        pool: key('pair'),
        from: key('user'),
        startBin: 4,
        endBin: -4,
        isForY: false,
        amountIn: 100n,
        amountOut: 90n,
      },
      ...{ fee: 10n, protocolFee: 3n, feeRate: 9n, hostFee: 1n },
    })
  })
})

describeRecorded('recorded transactions', 3, () => {
  const expected = sharedJson('anchores/expected_dlmm.json') as { expected_event: Record<string, string> }[]

  it('gives the same leg of a Jupiter route as an independent decoder', () => {
    const signature = 'EhfdfNdnWud1jXZt9A9FoDfqPmkDR8Di9xYvYdA3R5x6qdK6A7CvJte3TkQLnpj86o4ZsLsgQRZGifgZxyj41vn'
    const transaction = parsed(realTransaction(`anchores/meteora-dlmm/${signature}.json`))
    const { expected_event: event } = expected[0] ?? { expected_event: {} }
    const [pool, sender] = [event.lbPair ?? '', event.from ?? '']
    const token0 = '27G8MtK7VtTcCHkpASjSDdkWWYfoqT6ggEuKidVJidD4'
    expect(decoded(meteoraDlmm, transaction)).toEqual([
      {
        ...{ kind: 'swap', pool: poolOf(pool, token0, SOL), sender, recipient: sender, sqrtPrice: null },
        ...{
          tokenIn: token0,
          amountIn: BigInt(event.amountIn ?? 0),
          tokenOut: SOL,
          amountOut: BigInt(event.amountOut ?? 0),
        },
        ...{ reserve0: 13_440_244_514n, reserve1: 730_905_683_735n },
      },
    ])
  })

  it('gives each of three pairs in a route its leg, with the reserves right after it', () => {
    const signature = '5hEWA54E6AGWTRBfqbx4RtpjAZif5C9yFhZKRDNeMhugd3oZiSaK7ePG2zikdZ7XoFF6VbBZyWCH2cXWG5RUn3oW'
    const legs = decoded(meteoraDlmm, parsed(realTransaction(`anchores/${signature}.json`)))
    expect(
      legs.map((leg) => (leg.kind === 'swap' ? [leg.amountIn, leg.amountOut, leg.reserve0, leg.reserve1] : [])),
    ).toEqual([
      [100_000n, 6_039n, 2_220_370_018n, 26_084_722_914n],
      [6_039n, 16_153n, 330_487_870n, 925_589_835n],
      [16_153n, 15_172n, 17_602_100_489n, 14_261_846_607n],
    ])
  })

  it('is rejected with both amounts if the event and the transfers disagree', () => {
    const signature = 'ndGjRockP4jDGo4uJiR97gP7vRCYBDCTU2JYMHzJPZNTwpdGxtJb3KbuBXB4DQ93shQj4Tqy99QCEJmJVDNnBAw'
    const { value, ...rest } = realTransaction(`anchores/${signature}.json`)
    const changed = JSON.parse(JSON.stringify(value).replaceAll('"amount":"1512"', '"amount":"1513"'))
    expect(() => decoded(meteoraDlmm, parsed({ value: changed, ...rest }))).toThrow(
      'the amount out is 1512 in the event and 1513 in the transfers',
    )
  })
})

describeRecorded('random data', 1, () => {
  it('is rejected or ignored, never a crash', () => {
    const signatures = ['5MMAfqiFPqFUWXPLVE3NYy24sqtDHuRxVnnh7sWyyuizZTgvf4R6xtvPbewE6FDfce6vyKSqTHW9WNRYQj1ieLcK']
    const real = signatures.map((signature) => parsed(realTransaction(`anchores/${signature}.json`)))
    const calls = recordedNames('').map((name) => {
      const { accounts, data } = recorded(name)
      const pool = accounts[0] ?? ''
      const events = ['AddLiquidity', 'RemoveLiquidity'].map((event) =>
        reported(DLMM, liquidityEvent(event, pool, pool, 3n, 4n)),
      )
      return transactionOf([
        built(DLMM, accounts, data, [...events, reported(DLMM, swapEvent(pool, pool, true, 5n, 6n))]),
      ])
    })
    const outcome = garble(meteoraDlmm, callsOf(meteoraDlmm, [...real, ...real, ...calls]), { seed: 15, times: 3_000 })
    expect(outcome.refused).toBeGreaterThan(300)
  })
})
