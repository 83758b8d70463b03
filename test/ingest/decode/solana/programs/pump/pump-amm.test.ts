import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BadInstruction } from '../../../../../../services/ingest/decode/solana/decode-errors.js'
import {
  EVENT_CALL,
  eventDiscriminator,
  instructionDiscriminator,
} from '../../../../../../services/ingest/decode/solana/instruction/read-instruction.js'
import { WRAPPED_SOL } from '../../../../../../services/ingest/decode/solana/native-programs.js'
import { pumpAmm } from '../../../../../../services/ingest/decode/solana/programs/pump/pump-amm.js'
import {
  readBuy,
  readCreatePool,
  readSell,
} from '../../../../../../services/ingest/decode/solana/programs/pump/pump-amm-events.js'
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
  tokenTransfer,
  transactionOf,
} from '../../made-transaction.js'
import { vectorsOf } from '../../vectors.js'

const [PROGRAM = ''] = pumpAmm.programIds
const MINT = key(1)
const [BASE_VAULT, QUOTE_VAULT, FEE_VAULT] = [key(2), key(3), key(4)]

const vectors = new Map(vectorsOf('pumpfun_amm').map((vector) => [vector.name, vector]))
const vector = (name: string) => vectors.get(name) ?? { hex: '', fields: {} as Record<string, string> }
const BUY = vector('unpack_buy_event_v2')
const SELL = vector('unpack_sell_event_v2')
const CREATE = vector('unpack_create_pool_v2_event')

describeGenerated(pumpAmm, 'pumpamm')

describeRecorded('events of PumpSwap', 3, () => {
  it('a buy', () => {
    const { fields } = BUY
    expect(readBuy(new ByteReader(bytesOf(BUY.hex), 16))).toEqual({
      isBuy: true,
      baseAmount: BigInt(fields.base_amount_out ?? ''),
      quoteAmount: BigInt(fields.quote_amount_in_with_lp_fee ?? ''),
      userQuoteAmount: BigInt(fields.user_quote_amount_in ?? ''),
      ...{ pool: fields.pool, user: fields.user, keepsFees: false, boost: null },
      ...{ userBase: fields.user_base_token_account, userQuote: fields.user_quote_token_account },
    })
  })

  it('a sale', () => {
    const { fields } = SELL
    expect(readSell(new ByteReader(bytesOf(SELL.hex), 16))).toEqual({
      isBuy: false,
      baseAmount: BigInt(fields.base_amount_in ?? ''),
      quoteAmount: BigInt(fields.quote_amount_out_without_lp_fee ?? ''),
      userQuoteAmount: BigInt(fields.user_quote_amount_out ?? ''),
      ...{ pool: fields.pool, user: fields.user, keepsFees: false, boost: null },
      ...{ userBase: fields.user_base_token_account, userQuote: fields.user_quote_token_account },
    })
  })

  it('a new pool', () => {
    const { fields } = CREATE
    expect(readCreatePool(new ByteReader(bytesOf(CREATE.hex), 16))).toEqual({
      ...{ creator: fields.creator, baseMint: fields.base_mint, quoteMint: fields.quote_mint, pool: fields.pool },
      ...{ baseDecimals: 9, quoteDecimals: 6, baseAmount: 170_000_000_000n, quoteAmount: 1_000_000_000_000_000n },
    })
  })
})

describeRecorded('PumpSwap', 6, () => {
  const pool = SELL.fields.pool ?? ''
  const seller = SELL.fields.user ?? ''
  const userBase = SELL.fields.user_base_token_account ?? ''
  const userQuote = SELL.fields.user_quote_token_account ?? ''
  const accounts = [pool, seller, key(90), MINT, WRAPPED_SOL, userBase, userQuote, BASE_VAULT, QUOTE_VAULT]
  /** What left the pool goes to the user and the protocol. */
  const transfers = [
    tokenTransfer(MINT, userBase, BASE_VAULT, 82_847_919n),
    tokenTransfer(WRAPPED_SOL, QUOTE_VAULT, userQuote, 90_508_151_845n),
    tokenTransfer(WRAPPED_SOL, QUOTE_VAULT, FEE_VAULT, 45_367_495n),
  ]
  const data = bytesOf(instructionDiscriminator('sell'))
  const sale = (inner = transfers, hex = SELL.hex): Instruction =>
    instructionOf({ programId: PROGRAM, accounts, data, inner: [...inner, eventCall(PROGRAM, hex)] })
  const held = (amounts: { base: bigint; quote: bigint }) => ({
    [BASE_VAULT]: { mint: MINT, owner: pool, amount: amounts.base },
    [QUOTE_VAULT]: { mint: WRAPPED_SOL, owner: pool, amount: amounts.quote },
  })
  /** Reserves before the event; after it, those that the next event in the same second reports. */
  const before = held({ base: 549_652_925_359n, quote: 602_070_276_710_126n })
  const after = held({ base: 549_735_773_278n, quote: 601_979_723_190_786n })
  const decode = (instruction: Instruction) => pumpAmm.decode(instruction, transactionOf([instruction], before, after))

  it('a sale has what left the pool, and the same reserves as the next event', () => {
    expect(decode(sale())).toMatchObject([
      {
        kind: 'swap',
        pool: { pool, amm: 'pumpamm', token0: MINT, token1: WRAPPED_SOL, fee: null, creator: null },
        ...{ sender: seller, recipient: seller, tokenIn: MINT, amountIn: 82_847_919n },
        ...{ tokenOut: WRAPPED_SOL, amountOut: 90_553_519_340n, sqrtPrice: null },
        reserve0: BigInt(BUY.fields.pool_base_token_reserves ?? ''),
        reserve1: BigInt(BUY.fields.pool_quote_token_reserves ?? ''),
      },
    ])
  })

  it('transfers of another amount are rejected with both amounts', () => {
    const [base, quote] = transfers
    if (base === undefined || quote === undefined) throw new Error('no transfers')
    expect(() => decode(sale([base, quote]))).toThrow(
      /changed by 82847919 and -90553519340 in the event, by 82847919 and -90508151845 in the transfers/,
    )
    expect(() => decode({ ...sale(), accounts: [key(55), ...accounts.slice(1)] })).toThrow(
      /in the event and .* in the instruction/,
    )
    expect(() => decode({ ...sale(), inner: [] })).toThrow(BadInstruction)
    expect(() => decode({ ...sale(), accounts: [] })).toThrow(BadInstruction)
  })

  it('unclaimed fees in the account do not count as reserves', () => {
    const [base, quote] = transfers
    if (base === undefined || quote === undefined) throw new Error('no transfers')
    const boost = (virtual: bigint, isBoosted: boolean) => {
      const tail = Buffer.alloc(4 * 8 + 16 + 1 + 8 + 8)
      tail.writeBigInt64LE(virtual, 32)
      tail.writeBigInt64LE(virtual < 0n ? -1n : 0n, 40)
      tail[48] = isBoosted ? 1 : 0
      return SELL.hex + tail.toString('hex')
    }
    const reserve = (instruction: Instruction) =>
      decode(instruction).map((made) => ('reserve1' in made ? made.reserve1 : 0n))
    // The recorded event ends with the padding of its version.
    const bare = SELL.hex.slice(0, 2 * (16 + 14 * 8 + 7 * 32 + 2 * 8))
    const withBoost = (virtual: bigint, isBoosted: boolean) => bare + boost(virtual, isBoosted).slice(SELL.hex.length)
    expect(reserve(sale(transfers, withBoost(-1_000n, false)))).toEqual([601_979_723_190_786n - 1_000n])
    expect(reserve(sale(transfers, withBoost(5_000n, true)))).toEqual([null])
    // The protocol fee stays in the pool, because no recipient is named.
    const recipient = keyBytes(SELL.fields.protocol_fee_recipient ?? '').toString('hex')
    const kept = withBoost(-1_000n, false).replace(recipient, '00'.repeat(32))
    expect(reserve(sale([base, quote], kept))).toEqual([null])
    expect(() => decode(sale([base, quote], withBoost(-1_000n, false)))).toThrow(/the pool changed by/)
  })

  it('a hop of a route is read from its own five accounts', () => {
    const route = Array.from({ length: 16 }, (_, place) => key(200 + place))
    const other = [key(60), key(61), key(62), key(63), key(64)]
    const hop = [MINT, WRAPPED_SOL, pool, BASE_VAULT, QUOTE_VAULT]
    const made = { ...sale(), data: bytesOf(instructionDiscriminator('multi_hop_swap')) }
    expect(decode({ ...made, accounts: [...route, ...other, ...hop] })).toMatchObject([
      { kind: 'swap', pool: { pool, token0: MINT, token1: WRAPPED_SOL }, amountIn: 82_847_919n },
    ])
    expect(() => decode({ ...made, accounts: [...route, ...other] })).toThrow(/not a hop of the route/)
    // A route over curves only is decoded by Pump.fun's program.
    expect(decode({ ...made, inner: [] })).toEqual([])
  })

  it('a new pool is published with its tokens and its first liquidity', () => {
    const { fields } = CREATE
    const [base = '', quote = '', created = '', creator = ''] = [
      fields.base_mint,
      fields.quote_mint,
      fields.pool,
      fields.creator,
    ]
    const instruction = instructionOf({
      programId: PROGRAM,
      accounts: [created, key(90), creator, base, quote, key(91), key(92), key(93), key(94), BASE_VAULT, QUOTE_VAULT],
      data: bytesOf(vector('unpack_create_pool_v2_instruction').hex),
      inner: [
        tokenTransfer(base, key(92), BASE_VAULT, 170_000_000_000n),
        tokenTransfer(quote, key(93), QUOTE_VAULT, 1_000_000_000_000_000n),
        eventCall(PROGRAM, CREATE.hex),
      ],
    })
    const post = {
      [BASE_VAULT]: { mint: base, owner: created, amount: 170_000_000_000n },
      [QUOTE_VAULT]: { mint: quote, owner: created, amount: 1_000_000_000_000_000n },
    }
    expect(pumpAmm.decode(instruction, transactionOf([instruction], {}, post))).toMatchObject([
      { kind: 'token', token: base, decimals: 9 },
      { kind: 'token', token: quote, decimals: 6 },
      { kind: 'pool', pool: { pool: created, token0: base, token1: quote, creator } },
      {
        ...{ kind: 'liquidity', change: 'create', sender: creator, amount0: 170_000_000_000n },
        ...{ amount1: 1_000_000_000_000_000n, reserve0: 170_000_000_000n, reserve1: 1_000_000_000_000_000n },
      },
    ])
  })

  it('random data is rejected or ignored', () => {
    const names = ['BuyEvent', 'SellEvent', 'CreatePoolEvent', 'DepositEvent', 'WithdrawEvent']
    const whole = bytesOf(SELL.hex).subarray(16)
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.nat(whole.length),
        fc.uint8Array({ maxLength: 64 }),
        (name, cut, tail) => {
          const payload = Buffer.concat([whole.subarray(0, cut), tail]).toString('hex')
          const instruction = sale(transfers, EVENT_CALL + eventDiscriminator(name) + payload)
          try {
            decode(instruction)
          } catch (error) {
            expect(error).toBeInstanceOf(BadInstruction)
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})
