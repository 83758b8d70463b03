import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BadInstruction } from '../../../../../../services/ingest/decode/solana/decode-errors.js'
import {
  EVENT_CALL,
  eventDiscriminator,
  instructionDiscriminator,
} from '../../../../../../services/ingest/decode/solana/instruction/read-instruction.js'
import { WRAPPED_SOL } from '../../../../../../services/ingest/decode/solana/native-programs.js'
import { pump } from '../../../../../../services/ingest/decode/solana/programs/pump/pump.js'
import { readCreate, readTrade } from '../../../../../../services/ingest/decode/solana/programs/pump/pump-events.js'
import type { Instruction } from '../../../../../../services/ingest/decode/solana/transaction.js'
import { ByteReader } from '../../../../../../services/ingest/decode/solana/wire/byte-reader.js'
import { describeRecorded } from '../../../../../rig/recordings.js'
import { describeGenerated } from '../../generated-cases.js'
import {
  bytesOf,
  eventCall,
  instructionOf,
  key,
  keyBytes,
  type MadeInstruction,
  tokenTransfer,
  transactionOf,
} from '../../made-transaction.js'
import { vectorsOf } from '../../vectors.js'

const [PROGRAM = ''] = pump.programIds
const [MINT, CURVE, VAULT, USER, USER_VAULT] = [key(1), key(2), key(3), key(4), key(5)]
const [POOL, CREATOR, USDC] = [key(6), key(7), key(8)]

const u64 = (...values: bigint[]) => {
  const bytes = Buffer.alloc(8 * values.length)
  for (const [at, value] of values.entries()) bytes.writeBigUInt64LE(value, at * 8)
  return bytes
}
const text = (value: string) => {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(Buffer.byteLength(value))
  return Buffer.concat([length, Buffer.from(value)])
}
const flag = (value: boolean) => Buffer.from([value ? 1 : 0])
const ZERO_KEY = Buffer.alloc(32)

function event(name: string, ...parts: Uint8Array[]): MadeInstruction {
  return eventCall(PROGRAM, EVENT_CALL + eventDiscriminator(name) + Buffer.concat(parts).toString('hex'))
}

/** The fields of a trade, version by version. */
const FIRST_VERSION = [keyBytes(MINT), u64(3_000n, 7_000n), flag(true), keyBytes(USER), u64(1_700_000_000n)]
const VIRTUAL = u64(40_000_000_000n, 804_750_000_000_000n)
const REAL = u64(10_000_000_000n, 524_850_000_000_000n)
const FEES = [ZERO_KEY, u64(95n, 28n), keyBytes(CREATOR), u64(30n, 9n)]
const VOLUME = [flag(true), u64(0n, 0n, 3_000n, 1_700_000_000n)]
const NAMED = [text('buy_v3'), flag(false), u64(0n, 0n), u64(0n, 0n), Buffer.alloc(4)]
const QUOTE = [keyBytes(USDC), u64(4_000n, 5_000_000_000n, 1_000_000_000n), u64(0n, 0n, 0n)]

const tradeAccounts = [key(90), key(91), MINT, CURVE, VAULT, USER_VAULT, USER]

function buy(...inner: MadeInstruction[]): Instruction {
  const data = bytesOf(`${instructionDiscriminator('buy')}${u64(7_000n, 9_999n).toString('hex')}`)
  return instructionOf({ programId: PROGRAM, accounts: tradeAccounts, data, inner })
}

const decode = (instruction: Instruction) => pump.decode(instruction, transactionOf([instruction]))

describeGenerated(pump, 'pump')

describeRecorded('events of Pump.fun', 6, () => {
  const trades = vectorsOf('pumpfun').filter(({ name }) => name.startsWith('anchor_self_cpi_trade'))

  it('has vectors of every recorded version', () => expect(trades).toHaveLength(4))

  it.each(trades)('$name', ({ hex, fields }) => {
    const read = readTrade(new ByteReader(bytesOf(hex), 16))
    expect(read).toEqual({
      mint: fields.mint,
      quoteMint: WRAPPED_SOL,
      quoteAmount: BigInt(fields.sol_amount ?? ''),
      tokenAmount: BigInt(fields.token_amount ?? ''),
      isBuy: fields.is_buy === 'true',
      user: fields.user,
      virtualQuote: BigInt(fields.virtual_sol_reserves ?? ''),
      virtualToken: BigInt(fields.virtual_token_reserves ?? ''),
      realQuote: BigInt(fields.real_sol_reserves ?? ''),
      realToken: BigInt(fields.real_token_reserves ?? ''),
      creator: fields.creator ?? null,
    })
  })

  it.each(vectorsOf('pumpfun').filter(({ name }) => name.endsWith('create')))('$name', ({ hex, fields }) => {
    const { name, symbol, uri, mint, user, creator } = fields
    expect(readCreate(new ByteReader(bytesOf(hex), 16))).toEqual({
      ...{ name, symbol, uri, mint, user, creator, curve: fields.bonding_curve, quoteMint: WRAPPED_SOL },
      realToken: BigInt(fields.real_token_reserves ?? ''),
    })
  })
})

describe('a creation', () => {
  const facts = { name: 'Coin', symbol: 'COIN', uri: 'https://coin.example', mint: MINT, curve: CURVE, user: USER }
  const START = [text(facts.name), text(facts.symbol), text(facts.uri), ...[MINT, CURVE, USER].map(keyBytes)]
  const [VIRTUALS, FOR_SALE] = [u64(1_073n, 30n), 793_100_000_000_000n]
  /** Fields that each layout appended, oldest first. */
  const APPENDED: [string, Uint8Array][] = [
    ['creator and timestamp', Buffer.concat([keyBytes(CREATOR), u64(1_740_000_000n)])],
    ['reserves', Buffer.concat([VIRTUALS, u64(FOR_SALE, 1_000_000_000_000_000n)])],
    ['mayhem', Buffer.concat([keyBytes(key(95)), flag(true)])],
    ['cashback', flag(false)],
    ['quote', Buffer.concat([keyBytes(USDC), u64(4_000n)])],
    ['holder reward', Buffer.concat([u64(30n), flag(true)])],
    ['a later field', u64(1n)],
  ]
  const made = (appended: readonly Uint8Array[]) =>
    decode(instructionOf({ programId: PROGRAM, inner: [event('CreateEvent', ...START, ...appended)] }))
  const whole = Buffer.concat(APPENDED.map(([, bytes]) => bytes))
  const endsOf = APPENDED.map((_, last) => Buffer.concat(APPENDED.slice(0, last + 1).map(([, bytes]) => bytes)).length)

  it.each([['user', 0] as const, ...APPENDED.map(([name], at) => [name, at + 1] as const)])(
    'that ends with %s gives the token, its curve and its launch',
    (_, count) => {
      const has = (name: string) => APPENDED.slice(0, count).some(([appended]) => appended === name)
      const token1 = has('quote') ? USDC : WRAPPED_SOL
      const pool = {
        pool: CURVE,
        amm: 'pump',
        token0: MINT,
        token1,
        fee: null,
        creator: has('creator and timestamp') ? CREATOR : USER,
      }
      expect(made(APPENDED.slice(0, count).map(([, bytes]) => bytes))).toMatchObject([
        { kind: 'token', token: MINT, name: 'Coin', symbol: 'COIN', uri: facts.uri, decimals: 6 },
        { kind: 'pool', pool },
        { kind: 'launch', token: MINT, platform: 'pump', stage: 'created', progress: 0, pool: CURVE },
        ...(has('reserves') ? [{ kind: 'liquidity', change: 'create', amount0: FOR_SALE, amount1: 0n }] : []),
      ])
    },
  )

  it('truncated anywhere else is rejected', () => {
    const lastKnown = endsOf.at(-2) ?? 0
    for (let length = 1; length < lastKnown; length += 1) {
      if (endsOf.includes(length)) continue
      expect(() => made([whole.subarray(0, length)]), `${length} bytes`).toThrow(BadInstruction)
    }
  })
})

describe('Pump.fun', () => {
  const transfer = tokenTransfer(MINT, VAULT, USER_VAULT, 7_000n)
  const swap = {
    kind: 'swap',
    pool: { pool: CURVE, amm: 'pump', token0: MINT, token1: WRAPPED_SOL, fee: null, creator: null },
    ...{ sender: USER, recipient: USER, tokenIn: WRAPPED_SOL, amountIn: 3_000n, tokenOut: MINT, amountOut: 7_000n },
    ...{ sqrtPrice: null, reserve0: 524_850_000_000_000n, reserve1: 10_000_000_000n },
  }
  const launch = { kind: 'launch', token: MINT, platform: 'pump', stage: 'curve', pool: CURVE }
  const progress = 1 - 524.85 / 793.1

  it('decodes a trade of the first layout, deriving real reserves from virtual ones', () => {
    const made = decode(buy(transfer, event('TradeEvent', ...FIRST_VERSION, VIRTUAL)))
    expect(made).toMatchObject([swap, { ...launch, progress: expect.closeTo(progress, 12) }])
    expect(made).toHaveLength(2)
  })

  it('decodes a trade with real reserves, fees and volume', () => {
    for (const parts of [[], FEES, [...FEES, ...VOLUME], [...FEES, ...VOLUME, ...NAMED]]) {
      const made = decode(buy(transfer, event('TradeEvent', ...FIRST_VERSION, VIRTUAL, REAL, ...parts)))
      const creator = parts.length === 0 ? null : CREATOR
      expect(made).toMatchObject([{ ...swap, pool: { ...swap.pool, creator } }, launch])
    }
  })

  it('decodes a trade in another quote token than SOL, with the accounts of the third instruction', () => {
    const accounts = [key(90), MINT, USDC, key(91), key(92), CURVE, VAULT, key(93), USER, USER_VAULT]
    const data = bytesOf(instructionDiscriminator('buy_v3'))
    const reported = event('TradeEvent', ...FIRST_VERSION, VIRTUAL, REAL, ...FEES, ...VOLUME, ...NAMED, ...QUOTE)
    const instruction = instructionOf({ programId: PROGRAM, accounts, data, inner: [transfer, reported] })
    expect(decode(instruction)[0]).toMatchObject({
      ...{ pool: { pool: CURVE, token0: MINT, token1: USDC }, tokenIn: USDC, amountIn: 4_000n },
      ...{ tokenOut: MINT, amountOut: 7_000n, reserve1: 1_000_000_000n },
    })
  })

  it('the same event as a call and as a log is one trade', () => {
    const reported = event('TradeEvent', ...FIRST_VERSION, VIRTUAL, REAL)
    const log = bytesOf(
      Buffer.from(reported.data ?? [])
        .toString('hex')
        .slice(16),
    )
    const instruction = { ...buy(transfer, reported), programData: [log] }
    expect(decode(instruction).map(({ kind }) => kind)).toEqual(['swap', 'launch'])
    expect(decode({ ...buy(transfer), programData: [log] }).map(({ kind }) => kind)).toEqual(['swap', 'launch'])
  })

  it('a buy that completes the curve spills over into the future pool', () => {
    const more = [keyBytes(USER), keyBytes(MINT), keyBytes(CURVE), ZERO_KEY, u64(1n, 500n, 40n, 95n, 1n, 30n, 1n, 0n)]
    const made = decode(
      buy(
        tokenTransfer(MINT, VAULT, USER_VAULT, 7_500n),
        event('TradeEvent', ...FIRST_VERSION, VIRTUAL, u64(10_000_000_000n, 0n)),
        event('CompleteEvent', keyBytes(USER), keyBytes(MINT), keyBytes(CURVE), u64(1n)),
        event('PostCompleteBuyEvent', ...more, u64(206_900n, 85_000n, 206_400n, 85_040n)),
      ),
    )
    expect(made).toMatchObject([
      { ...swap, reserve0: 0n },
      { ...launch, progress: 1 },
      { ...launch, progress: 1 },
      { ...swap, amountIn: 40n, amountOut: 500n, reserve0: 206_400n, reserve1: 85_040n },
    ])
  })

  it('a migration empties the curve and names the pool it graduates to', () => {
    const parts = [keyBytes(USER), keyBytes(MINT), u64(206n, 85n, 15n), keyBytes(CURVE), u64(1n), keyBytes(POOL)]
    const instruction = instructionOf({ programId: PROGRAM, inner: [event('CompletePumpAmmMigrationEvent', ...parts)] })
    expect(decode(instruction)).toMatchObject([
      { kind: 'liquidity', change: 'remove', amount0: 206n, amount1: 85n, reserve0: 0n, reserve1: 0n, sender: USER },
      { kind: 'launch', token: MINT, stage: 'graduated', progress: 1, pool: POOL },
    ])
  })

  it('an event that differs from its transfers is rejected with both amounts', () => {
    const reported = event('TradeEvent', ...FIRST_VERSION, VIRTUAL, REAL)
    const wrong = buy(tokenTransfer(MINT, VAULT, USER_VAULT, 6_999n), reported)
    expect(() => decode(wrong)).toThrow(/7000 in the event and 6999 in the transfers/)
    expect(() => decode(buy())).toThrow(BadInstruction)
    expect(() => decode({ ...buy(transfer, reported), accounts: tradeAccounts.slice(0, 4) })).toThrow(BadInstruction)
  })

  it('instructions without a trade give nothing', () => {
    const data = bytesOf(instructionDiscriminator('collect_creator_fee'))
    expect(decode(instructionOf({ programId: PROGRAM, data }))).toEqual([])
    expect(decode(instructionOf({ programId: PROGRAM }))).toEqual([])
  })

  it('random data is rejected or ignored', () => {
    const names = [
      'TradeEvent',
      'CreateEvent',
      'CompleteEvent',
      'PostCompleteBuyEvent',
      'CompletePumpAmmMigrationEvent',
    ]
    const whole = Buffer.concat([...FIRST_VERSION, VIRTUAL, REAL, ...FEES, ...VOLUME, ...NAMED, ...QUOTE])
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.nat(whole.length),
        fc.uint8Array({ maxLength: 64 }),
        (name, cut, tail) => {
          const instruction = buy(transfer, event(name, whole.subarray(0, cut), tail))
          expect(refusedOrMade(() => decode(instruction))).toBe(true)
        },
      ),
      { numRuns: 500 },
    )
  })
})

function refusedOrMade(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch (error) {
    return error instanceof BadInstruction
  }
}
