/**
 * Pump.fun's bonding curve. A curve is a pool of its coin against SOL or the quote mint it was created with. Its reserves are the
 * real ones; the virtual ones only set the price. Amounts are the curve's, without fees.
 */

import { BadInstruction } from '../../decode-errors.js'
import {
  accountAt,
  discriminatorOf,
  eventsOf,
  instructionDiscriminator,
  readBytes,
} from '../../instruction/read-instruction.js'
import { ownerOf, transfersIn } from '../../instruction/vaults.js'
import type { Pool, Program, VenueEvent } from '../../program-decoder.js'
import type { Instruction, SolanaTransaction, Transfer } from '../../transaction.js'
import type { ByteReader } from '../../wire/byte-reader.js'
import {
  COMPLETE,
  CREATE,
  MIGRATION,
  POST_COMPLETE_BUY,
  readComplete,
  readCreate,
  readMigration,
  readPostCompleteBuy,
  readTrade,
  TRADE,
  type TradeEvent,
} from './pump-events.js'

const AMM = 'pump'
/** Every coin has this many. */
const DECIMALS = 6
/** How liquidity moved to Raydium until 2025. It has no event. */
const WITHDRAW = instructionDiscriminator('withdraw')
const WITHDRAW_MINT = 2

export const pump: Program = {
  name: 'pump',
  programIds: ['6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P'],
  isPricedByTrades: true,

  decode(instruction, transaction) {
    const venueEvents: VenueEvent[] = []
    const reported = eventsOf(instruction)
    const discriminator = discriminatorOf(instruction.data)
    for (const event of reported) {
      const read = <T>(reading: (reader: ByteReader) => T): T => readBytes(instruction, event.payload, reading)
      if (event.discriminator === TRADE) venueEvents.push(...trade(instruction, transaction, read(readTrade)))
      else if (event.discriminator === CREATE) venueEvents.push(...created(instruction, read(readCreate)))
      else if (event.discriminator === COMPLETE) venueEvents.push(completed(instruction, read(readComplete)))
      else if (event.discriminator === POST_COMPLETE_BUY)
        venueEvents.push(lastBuy(instruction, read(readPostCompleteBuy)))
      else if (event.discriminator === MIGRATION) venueEvents.push(...migrated(instruction, read(readMigration)))
    }
    if (discriminator === WITHDRAW) return [left(instruction, accountAt(instruction, WITHDRAW_MINT, 'the mint'))]
    if (venueEvents.length === 0 && TRADE_ACCOUNTS.has(discriminator ?? ''))
      throw new BadInstruction(instruction, 'amounts_unknown', 'a trade without its event')
    return venueEvents
  },
}

function trade(instruction: Instruction, transaction: SolanaTransaction, event: TradeEvent): VenueEvent[] {
  const { mint, quoteMint, isBuy, user, quoteAmount, tokenAmount, realToken, realQuote } = event
  const curve = checkedCurve(instruction, transaction, event)
  const pool = poolOf(curve, mint, quoteMint, event.creator)
  const [tokenIn, tokenOut] = isBuy ? [quoteMint, mint] : [mint, quoteMint]
  const [amountIn, amountOut] = isBuy ? [quoteAmount, tokenAmount] : [tokenAmount, quoteAmount]
  return [
    {
      kind: 'swap',
      instruction,
      pool,
      sender: user,
      recipient: user,
      tokenIn,
      amountIn,
      tokenOut,
      amountOut,
      sqrtPrice: null,
      reserve0: realToken,
      reserve1: realQuote,
    },
    {
      kind: 'launch',
      instruction,
      token: mint,
      platform: AMM,
      stage: 'curve',
      progress: progressOf(event),
      pool: curve,
    },
  ]
}

/** The curve, from the instruction's accounts or as the owner of the transferred tokens. The event must match these transfers. */
function checkedCurve(instruction: Instruction, transaction: SolanaTransaction, event: TradeEvent): string {
  const { mint, isBuy, tokenAmount } = event
  const accounts = TRADE_ACCOUNTS.get(discriminatorOf(instruction.data) ?? '')
  const moved = transfersIn(instruction).filter((transfer) => transfer.mint === mint)
  const vaultOf = ({ source, destination }: Transfer) => (isBuy ? source : destination)
  if (accounts === undefined) {
    // A hop of a route through several curves: only the tokens identify it.
    const hop = moved.find(({ amount }) => amount === tokenAmount)
    const curve = hop === undefined ? null : ownerOf(transaction, vaultOf(hop))
    if (curve === null)
      throw new BadInstruction(instruction, 'amounts_unknown', `no transfer of ${tokenAmount} ${mint}`)
    return curve
  }
  const vault = accountAt(instruction, accounts.vault, "the curve's token account")
  const named = accountAt(instruction, accounts.mint, 'the mint')
  if (named !== mint)
    throw new BadInstruction(
      instruction,
      'disagreement',
      `the mint is ${mint} in the event and ${named} in the instruction`,
    )
  let sum = 0n
  for (const transfer of moved) if (vaultOf(transfer) === vault) sum += transfer.amount
  // A buy that continues in the new pool takes that part from the same account.
  if (isBuy ? sum < tokenAmount : sum !== tokenAmount)
    throw new BadInstruction(
      instruction,
      'disagreement',
      `the amount is ${tokenAmount} in the event and ${sum} in the transfers`,
    )
  return accountAt(instruction, accounts.curve, 'the bonding curve')
}

function created(instruction: Instruction, event: ReturnType<typeof readCreate>): VenueEvent[] {
  const { mint, curve, user, name, symbol, uri, realToken } = event
  const pool = poolOf(curve, mint, event.quoteMint, event.creator)
  const supply: VenueEvent[] =
    realToken === null
      ? []
      : [
          {
            ...{ kind: 'liquidity', instruction, pool, change: 'create', sender: user },
            ...{ amount0: realToken, amount1: 0n, reserve0: realToken, reserve1: 0n },
          },
        ]
  return [
    { kind: 'token', instruction, token: mint, name, symbol, decimals: DECIMALS, uri },
    { kind: 'pool', instruction, pool },
    { kind: 'launch', instruction, token: mint, platform: AMM, stage: 'created', progress: 0, pool: curve },
    ...supply,
  ]
}

/** Sold out. It graduates when the migration opens its new pool. */
function completed(instruction: Instruction, { mint, curve }: ReturnType<typeof readComplete>): VenueEvent {
  return { kind: 'launch', instruction, token: mint, platform: AMM, stage: 'curve', progress: 1, pool: curve }
}

/** The part of the buy that sold out the curve which is filled from the new pool, at that pool's price. */
function lastBuy(instruction: Instruction, event: ReturnType<typeof readPostCompleteBuy>): VenueEvent {
  const { user, mint, curve, quoteMint, baseOut, quoteIn, baseAfter, quoteAfter } = event
  return {
    ...{ kind: 'swap', instruction, pool: poolOf(curve, mint, quoteMint, null), sender: user, recipient: user },
    ...{ tokenIn: quoteMint, amountIn: quoteIn, tokenOut: mint, amountOut: baseOut, sqrtPrice: null },
    ...{ reserve0: baseAfter, reserve1: quoteAfter },
  }
}

function migrated(instruction: Instruction, event: ReturnType<typeof readMigration>): VenueEvent[] {
  const { user, mint, curve, quoteMint, tokenAmount, quoteAmount, pool } = event
  return [
    {
      ...{ kind: 'liquidity', instruction, pool: poolOf(curve, mint, quoteMint, null), change: 'remove', sender: user },
      ...{ amount0: tokenAmount, amount1: quoteAmount, reserve0: 0n, reserve1: 0n },
    },
    { kind: 'launch', instruction, token: mint, platform: AMM, stage: 'graduated', progress: 1, pool },
  ]
}

function left(instruction: Instruction, mint: string): VenueEvent {
  return { kind: 'launch', instruction, token: mint, platform: AMM, stage: 'graduated', progress: 1, pool: null }
}

function poolOf(curve: string, mint: string, quoteMint: string, creator: string | null): Pool {
  // Its fee depends on the market capitalisation.
  return { pool: curve, amm: AMM, token0: mint, token1: quoteMint, fee: null, creator }
}

/**
 * The share of the offer that is sold. The offer follows from the event alone: virtual less real reserves never change, and neither
 * does the product of the virtual ones, except for rounding.
 */
function progressOf({ virtualQuote, virtualToken, realQuote, realToken }: TradeEvent): number | null {
  const startQuote = virtualQuote - realQuote
  if (startQuote <= 0n) return null
  const startToken = (virtualQuote * virtualToken) / startQuote
  const forSale = startToken - (virtualToken - realToken)
  if (forSale <= 0n) return null
  return Math.min(1, Math.max(0, 1 - Number(realToken) / Number(forSale)))
}

/** Indexes of the accounts used here (pump-fun/pump-public-docs, `idl/pump.json` and `docs/instructions`). */
export type TradeAccounts = {
  mint: number
  curve: number
  /** The curve's own tokens. */
  vault: number
  user: number
}

const FIRST: TradeAccounts = { mint: 2, curve: 3, vault: 4, user: 6 }
const SECOND: TradeAccounts = { mint: 1, curve: 10, vault: 11, user: 13 }
const THIRD: TradeAccounts = { mint: 1, curve: 5, vault: 6, user: 8 }

/** By discriminator. */
export const TRADE_ACCOUNTS: ReadonlyMap<string, TradeAccounts> = new Map([
  ...named(FIRST, 'buy', 'sell', 'buy_exact_sol_in'),
  ...named(SECOND, 'buy_v2', 'sell_v2', 'buy_exact_quote_in_v2'),
  ...named(THIRD, 'buy_v3', 'sell_v3', 'buy_exact_quote_in_v3'),
])

function named(accounts: TradeAccounts, ...names: readonly string[]): [string, TradeAccounts][] {
  return names.map((name) => [instructionDiscriminator(name), accounts])
}
