import { describe, expect, test } from 'vitest'
import {
  EVENT_CALL,
  eventDiscriminator,
  instructionDiscriminator,
} from '../../../../../../services/ingest/decode/solana/instruction/read-instruction.js'
import { TOKEN_2022 } from '../../../../../../services/ingest/decode/solana/native-programs.js'
import { launchLab, launchTradeOf } from '../../../../../../services/ingest/decode/solana/programs/raydium/launchlab.js'
import { describeRecorded } from '../../../../../rig/recordings.js'
import { garble } from '../../garble.js'
import { describeGenerated } from '../../generated-cases.js'
import { bytes, decoded, hex, key, made, refusal, transactionOf, u8, u64, WRAPPED_SOL } from '../../instruction-rig.js'
import { legOf, realLegs } from '../../real-legs.js'
import { sharedJson } from '../../real-transactions.js'

const CURVE = 'C9HhQft4MTfnboDfpqS5Vy1zdkxPzL9qscWarUMtA999'
const TOKEN = '54y4DV6shhwvojpRCCqwvgRTPd45UGrCEghpsa9pBj7F'
const TRADER = '7hnTzCVKCa3ToiKC8wgFHzc2s5jRBVDwwg5DpffUKjUu'
const POOL = { pool: CURVE, amm: 'launchlab', token0: TOKEN, token1: WRAPPED_SOL, fee: null, creator: null }

function named(name: string, ...fields: readonly Uint8Array[]): Uint8Array {
  return bytes(hex(instructionDiscriminator(name)), ...fields)
}

describeGenerated(launchLab, 'launchlab')

describeRecorded('LaunchLab on mainnet', 5, () => {
  const legs = realLegs(launchLab)

  test('decodes a complete token launch', () => {
    const { instruction, transaction } = legOf(legs, '5LzhiGZB')
    const pool = { ...POOL, creator: TRADER }
    expect(decoded(launchLab, instruction, transaction)).toEqual([
      { kind: 'pool', pool },
      {
        kind: 'token',
        token: TOKEN,
        decimals: 6,
        name: 'Sora Loser',
        symbol: 'SORA LOSER',
        uri: 'https://1ea5c9284bee4d1c815c8bd0.blob.core.windows.net/deploy/c953fc96-2648-4487-8dec-f8ffb97896e7.json',
      },
      { kind: 'launch', token: TOKEN, platform: 'bonk', stage: 'created', progress: 0, pool: CURVE },
      {
        ...{ kind: 'liquidity', pool, change: 'create', sender: TRADER },
        ...{ amount0: 793100000000000n, amount1: 0n, reserve0: 793100000000000n, reserve1: 0n },
      },
    ])
  })

  test('decodes the same launch from the instruction alone', () => {
    const { instruction, transaction } = legOf(legs, '5LzhiGZB')
    const silent = { ...instruction, inner: [], programData: null }
    const [, ...rest] = decoded(launchLab, silent, transaction)
    expect(rest).toEqual(decoded(launchLab, instruction, transaction).slice(1))
  })

  test('decodes its first buy once, although it is in a call and in a log', () => {
    const { instruction, transaction } = legOf(legs, '5LzhiGZB', 2)
    expect(decoded(launchLab, instruction, transaction)).toEqual([
      {
        kind: 'swap',
        pool: POOL,
        sender: TRADER,
        recipient: TRADER,
        tokenIn: WRAPPED_SOL,
        amountIn: 9999999n,
        tokenOut: TOKEN,
        amountOut: 352899251106n,
        // The remaining offer and the amount raised are below what the vaults hold.
        reserve0: 792747100748894n,
        reserve1: 9869999n,
        sqrtPrice: null,
      },
    ])
  })

  test('decodes recorded events of both layouts, field by field', () => {
    type Payload = { program_test: string; payload_hex: string[]; fields: Record<string, string> }
    const payloads = (sharedJson('pinax/event_payloads.json') as Payload[]).filter(({ program_test: name }) =>
      name.startsWith('raydium_launchpad:unpack_launchpad_trade_event'),
    )
    const trades = payloads.map(({ payload_hex: [text = ''] }) => {
      const instruction = made(launchLab, { accounts: [], data: new Uint8Array(0) })
      const call = { ...made(launchLab, { accounts: [], data: hex(text) }), order: 1, depth: 1 }
      return launchTradeOf({ ...instruction, inner: [call] })
    })
    const field = (at: number, name: string) => BigInt(payloads[at]?.fields[name] ?? '')
    expect(trades).toEqual(
      [0, 1].map((at) => ({
        pool: payloads[at]?.fields['to_string()'],
        isBuy: true,
        forSale: field(at, 'total_base_sell'),
        soldBefore: field(at, 'real_base_before'),
        soldAfter: field(at, 'real_base_after'),
        raisedAfter: field(at, 'real_quote_after'),
        amountIn: field(at, 'amount_in'),
        amountOut: field(at, 'amount_out'),
        fees:
          field(at, 'protocol_fee') +
          field(at, 'platform_fee') +
          field(at, 'share_fee') +
          (at === 0 ? field(0, 'creator_fee') : 0n),
        isFunding: true,
      })),
    )
  })

  test('rejects random data in any field without another error', () => {
    // The third call carries the event.
    const { decoded: whole, refused } = garble(launchLab, legs, { seed: 7, times: 4_000 })
    expect(whole).toBeGreaterThan(200)
    expect(refused).toBeGreaterThan(400)
  })
})

describe('handmade trades', () => {
  type Trade = { isBuy: boolean; sold: readonly [bigint, bigint]; amountIn: bigint; amountOut: bigint; status?: number }

  function tradeEvent({ isBuy, sold: [before, after], amountIn, amountOut, status = 0 }: Trade): Uint8Array {
    const amounts = [1000n, 5n, 6n, before, 300n, after, 260n, amountIn, amountOut, 1n, 2n, 3n, 4n]
    return bytes(
      ...[hex(EVENT_CALL), hex(eventDiscriminator('TradeEvent')), key(CURVE), ...amounts.map(u64)],
      ...[u8(isBuy ? 0 : 1), u8(status), u8(1)],
    )
  }

  const accounts = (program: string) => [
    ...['trader', 'authority', 'config', 'platform', CURVE, 'base', 'quote', 'baseVault', 'quoteVault'],
    ...[TOKEN, WRAPPED_SOL, program, 'program', 'events', 'self'],
  ]

  function traded(trade: Trade, [baseSent, quoteSent]: readonly [bigint, bigint], program = 'program') {
    const direction = trade.isBuy ? 'buy_exact_in' : 'sell_exact_in'
    const instruction = made(launchLab, {
      accounts: accounts(program),
      data: named(direction, u64(1n), u64(1n), u64(0n)),
      sent: trade.isBuy
        ? [
            { mint: WRAPPED_SOL, source: 'quote', destination: 'quoteVault', amount: quoteSent },
            { mint: TOKEN, source: 'baseVault', destination: 'base', amount: baseSent },
          ]
        : [
            { mint: TOKEN, source: 'base', destination: 'baseVault', amount: baseSent },
            { mint: WRAPPED_SOL, source: 'quoteVault', destination: 'quote', amount: quoteSent },
          ],
    })
    const call = { ...made(launchLab, { accounts: [], data: tradeEvent(trade) }), order: 3, depth: 1 }
    const whole = { ...instruction, inner: [...instruction.inner, call] }
    return { instruction: whole, transaction: transactionOf(whole) }
  }

  const sale: Trade = { isBuy: false, sold: [500n, 495n], amountIn: 5n, amountOut: 40n }

  test.each([
    ['after fees', 40n],
    ['before fees', 30n],
  ])('a sale whose event reports proceeds %s gives what the wallet received', (_when, received) => {
    const { instruction, transaction } = traded(sale, [5n, received])
    expect(decoded(launchLab, instruction, transaction)).toEqual([
      {
        ...{ kind: 'swap', pool: POOL, sender: 'trader', recipient: 'trader' },
        ...{ tokenIn: TOKEN, amountIn: 5n, tokenOut: WRAPPED_SOL, amountOut: received },
        ...{ reserve0: 505n, reserve1: 260n, sqrtPrice: null },
      },
      { kind: 'launch', token: TOKEN, platform: 'launchlab', stage: 'curve', progress: 0.495, pool: CURVE },
    ])
  })

  test('progress is published at every percent, and at completion', () => {
    const buy = (sold: readonly [bigint, bigint], status: number) => {
      const amountOut = sold[1] - sold[0]
      const { instruction, transaction } = traded({ isBuy: true, sold, amountIn: 50n, amountOut, status }, [
        amountOut,
        50n,
      ])
      return decoded(launchLab, instruction, transaction).flatMap((each) =>
        each.kind === 'launch' ? [each.progress] : [],
      )
    }
    expect([buy([500n, 509n], 0), buy([500n, 510n], 0), buy([990n, 1000n], 1)]).toEqual([[], [0.51], [1]])
  })

  test('with a transfer fee on the base token, the wallet sends more than arrives; without one it may not', () => {
    const { instruction, transaction } = traded(sale, [6n, 40n], TOKEN_2022)
    expect(decoded(launchLab, instruction, transaction)).toMatchObject([{ amountIn: 6n }, { kind: 'launch' }])
    const bought: Trade = { isBuy: true, sold: [500n, 505n], amountIn: 50n, amountOut: 5n }
    const buy = traded(bought, [6n, 50n], TOKEN_2022)
    expect(decoded(launchLab, buy.instruction, buy.transaction)).toMatchObject([{ amountOut: 5n }])
    const other = traded(sale, [6n, 40n])
    expect(refusal(launchLab, other.instruction, other.transaction).reason).toBe('disagreement')
  })

  test('an event of the other direction or of another curve is rejected', () => {
    const { instruction, transaction } = traded({ ...sale, isBuy: true }, [5n, 40n])
    const asSale = { ...instruction, data: named('sell_exact_in', u64(1n), u64(1n), u64(0n)) }
    expect(refusal(launchLab, asSale, transaction).reason).toBe('disagreement')
    const elsewhere = { ...instruction, accounts: accounts('program').with(4, TOKEN) }
    expect(refusal(launchLab, elsewhere, transaction).reason).toBe('disagreement')
  })
})

test.each([
  ['migrate_to_amm', 32, { pool: 13, curve: 23, baseVault: 25 }, 'launchlab'],
  ['migrate_to_cpswap', 28, { pool: 5, curve: 17, baseVault: 19 }, 'bonk'],
] as const)('%s moves all there is to the new pool', (name, length, places, platform) => {
  const accounts = Array.from({ length }, (_, place) => `account${place}`)
    .with(0, 'payer')
    .with(1, TOKEN)
    .with(2, WRAPPED_SOL)
    .with(3, name === 'migrate_to_cpswap' ? 'FfYek5vEz23cMkWsdJwG2oa6EphsvXSHrGpdALN4g6W1' : 'openbook')
    .with(places.pool, 'newPool')
    .with(places.curve, CURVE)
    .with(places.baseVault, 'baseVault')
    .with(places.baseVault + 1, 'quoteVault')
  const instruction = made(launchLab, {
    accounts,
    data: named(name),
    sent: [
      { mint: TOKEN, source: 'baseVault', destination: 'newBaseVault', amount: 206n },
      { mint: WRAPPED_SOL, source: 'quoteVault', destination: 'newQuoteVault', amount: 79n },
    ],
  })
  expect(decoded(launchLab, instruction, transactionOf(instruction))).toEqual([
    {
      ...{ kind: 'liquidity', pool: POOL, change: 'remove', sender: 'payer' },
      ...{ amount0: 206n, amount1: 79n, reserve0: 0n, reserve1: 0n },
    },
    { kind: 'launch', token: TOKEN, platform, stage: 'graduated', progress: 1, pool: 'newPool' },
  ])
})
