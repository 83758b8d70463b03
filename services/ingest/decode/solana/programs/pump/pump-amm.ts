/**
 * PumpSwap, the exchange to which Pump.fun coins graduate. Amounts are the pool's: what its accounts received and paid,
 * including the liquidity providers' fee. Protocol and creator fees are paid on top of a buy and out of a sale,
 * or stay in the pool's account until they are swept.
 */

import { BadInstruction } from '../../decode-errors.js'
import {
  accountAt,
  discriminatorOf,
  eventsOf,
  instructionDiscriminator,
  readBytes,
} from '../../instruction/read-instruction.js'
import { balanceAfter, netInto, ownerOf, transfersIn } from '../../instruction/vaults.js'
import type { Pool, Program, VenueEvent } from '../../program-decoder.js'
import type { Instruction, SolanaTransaction } from '../../transaction.js'
import {
  BUY,
  CREATE_POOL,
  DEPOSIT,
  type LiquidityEvent,
  readBuy,
  readCreatePool,
  readLiquidity,
  readSell,
  SELL,
  type TradeEvent,
  WITHDRAW,
} from './pump-amm-events.js'

const AMM = 'pumpamm'

type Accounts = { pool: string; baseMint: string; quoteMint: string; baseVault: string; quoteVault: string }
/** For buys and sales, old and new. */
const TRADE_PLACES = { pool: 0, baseMint: 3, quoteMint: 4, baseVault: 7, quoteVault: 8 }
/** For a creation, a deposit and a withdrawal. */
const LIQUIDITY_PLACES = { pool: 0, baseMint: 3, quoteMint: 4, baseVault: 9, quoteVault: 10 }

const TRADES = new Set(
  ['buy', 'sell', 'buy_exact_quote_in', 'buy_v2', 'sell_v2', 'buy_exact_quote_in_v2'].map(instructionDiscriminator),
)
const MULTI_HOP = instructionDiscriminator('multi_hop_swap')
/** A route has five accounts per hop after its own. */
const HOPS_START = 16
const HOP_ACCOUNTS = 5
const HOP_PLACES = { baseMint: 0, quoteMint: 1, pool: 2, baseVault: 3, quoteVault: 4 }

export const pumpAmm: Program = {
  name: 'pump-amm',
  programIds: ['pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'],

  decode(instruction, transaction) {
    const venueEvents: VenueEvent[] = []
    const discriminator = discriminatorOf(instruction.data) ?? ''
    for (const { discriminator: name, payload } of eventsOf(instruction)) {
      if (name === BUY) venueEvents.push(trade(instruction, transaction, readBytes(instruction, payload, readBuy)))
      else if (name === SELL)
        venueEvents.push(trade(instruction, transaction, readBytes(instruction, payload, readSell)))
      else if (name === CREATE_POOL) venueEvents.push(...created(instruction, transaction, payload))
      else if (name === DEPOSIT || name === WITHDRAW) {
        const event = readBytes(instruction, payload, readLiquidity)
        venueEvents.push(liquidity(instruction, transaction, event, name === DEPOSIT))
      }
    }
    // A route through curves only trades in the other program.
    if (venueEvents.length === 0 && TRADES.has(discriminator))
      throw new BadInstruction(instruction, 'amounts_unknown', 'a trade without its event')
    return venueEvents
  },
}

function trade(instruction: Instruction, transaction: SolanaTransaction, event: TradeEvent): VenueEvent {
  const { isBuy, baseAmount, quoteAmount, user } = event
  const isHop = discriminatorOf(instruction.data) === MULTI_HOP
  const accounts = isHop ? hopAccounts(instruction, event.pool) : accountsAt(instruction, TRADE_PLACES, event.pool)
  checkTrade(instruction, accounts, event, isHop)
  const { baseMint, quoteMint } = accounts
  const destination = isBuy ? event.userBase : event.userQuote
  return {
    kind: 'swap',
    instruction,
    pool: poolOf(accounts, null),
    sender: user,
    recipient: ownerOf(transaction, destination) ?? user,
    tokenIn: isBuy ? quoteMint : baseMint,
    amountIn: isBuy ? quoteAmount : baseAmount,
    tokenOut: isBuy ? baseMint : quoteMint,
    amountOut: isBuy ? baseAmount : quoteAmount,
    sqrtPrice: null,
    reserve0: balanceAfter(transaction, accounts.baseVault, instruction),
    reserve1: quoteReserve(balanceAfter(transaction, accounts.quoteVault, instruction), event),
  }
}

/** Checks the event against the pool's transfers. A route's fees are taken in one of its hops, so only the base amount of a hop is exact. */
function checkTrade(instruction: Instruction, accounts: Accounts, event: TradeEvent, isHop: boolean): void {
  const { isBuy, baseAmount, quoteAmount, userQuoteAmount, keepsFees } = event
  const transfers = transfersIn(instruction)
  const base = netInto(transfers, accounts.baseVault)
  const quote = netInto(transfers, accounts.quoteVault)
  const sign = isBuy ? 1n : -1n
  const [low, high] = quoteAmount < userQuoteAmount ? [quoteAmount, userQuoteAmount] : [userQuoteAmount, quoteAmount]
  const moved = sign * quote
  const fits = keepsFees ? moved >= low && moved <= high : moved === quoteAmount
  if (base === -sign * baseAmount && (isHop || fits)) return
  const reported = `the pool changed by ${-sign * baseAmount} and ${sign * quoteAmount} in the event`
  throw new BadInstruction(instruction, 'disagreement', `${reported}, by ${base} and ${quote} in the transfers`)
}

/**
 * Without unswept fees: a pool that is not boosted has them as negative virtual reserves. Unknown for a trade that adds to them
 * (the event does not say whether its own are included) and for a boosted pool (the two cannot be separated).
 */
function quoteReserve(vault: bigint | null, { keepsFees, boost }: TradeEvent): bigint | null {
  if (vault === null || keepsFees) return null
  if (boost === null) return vault
  if (boost.isBoosted) return boost.mayKeepFees ? null : vault
  const reserve = vault + boost.virtualQuote
  return reserve < 0n ? null : reserve
}

function created(instruction: Instruction, transaction: SolanaTransaction, payload: Uint8Array): VenueEvent[] {
  const event = readBytes(instruction, payload, readCreatePool)
  const accounts = accountsAt(instruction, LIQUIDITY_PLACES, event.pool)
  const { baseMint, quoteMint, creator, baseAmount, quoteAmount } = event
  const pool = poolOf({ ...accounts, baseMint, quoteMint }, creator)
  const change = { baseAmount, quoteAmount, pool: event.pool, user: creator }
  return [
    { kind: 'token', instruction, token: baseMint, name: null, symbol: null, decimals: event.baseDecimals, uri: null },
    {
      kind: 'token',
      instruction,
      token: quoteMint,
      name: null,
      symbol: null,
      decimals: event.quoteDecimals,
      uri: null,
    },
    { kind: 'pool', instruction, pool },
    moved(instruction, transaction, { accounts, pool, event: change, change: 'create' }),
  ]
}

function liquidity(
  instruction: Instruction,
  transaction: SolanaTransaction,
  event: LiquidityEvent,
  isDeposit: boolean,
): VenueEvent {
  const accounts = accountsAt(instruction, LIQUIDITY_PLACES, event.pool)
  const change = isDeposit ? 'add' : 'remove'
  return moved(instruction, transaction, { accounts, pool: poolOf(accounts, null), event, change })
}

type Moved = { accounts: Accounts; pool: Pool; event: LiquidityEvent; change: 'create' | 'add' | 'remove' }

function moved(
  instruction: Instruction,
  transaction: SolanaTransaction,
  { accounts, pool, event, change }: Moved,
): VenueEvent {
  const { baseAmount, quoteAmount, user } = event
  const transfers = transfersIn(instruction)
  const sign = change === 'remove' ? -1n : 1n
  const [base, quote] = [netInto(transfers, accounts.baseVault), netInto(transfers, accounts.quoteVault)]
  if (base !== sign * baseAmount || quote !== sign * quoteAmount) {
    const reported = `the pool changed by ${sign * baseAmount} and ${sign * quoteAmount} in the event`
    throw new BadInstruction(instruction, 'disagreement', `${reported}, by ${base} and ${quote} in the transfers`)
  }
  return {
    ...{ kind: 'liquidity', instruction, pool, change, sender: user, amount0: baseAmount, amount1: quoteAmount },
    reserve0: balanceAfter(transaction, accounts.baseVault, instruction),
    // The account may hold unswept fees, which these events do not include.
    reserve1: change === 'create' ? balanceAfter(transaction, accounts.quoteVault, instruction) : null,
  }
}

function accountsAt(instruction: Instruction, places: Record<keyof Accounts, number>, pool: string): Accounts {
  const named = accountAt(instruction, places.pool, 'the pool')
  if (named !== pool)
    throw new BadInstruction(
      instruction,
      'disagreement',
      `the pool is ${pool} in the event and ${named} in the instruction`,
    )
  return {
    pool,
    baseMint: accountAt(instruction, places.baseMint, 'the base mint'),
    quoteMint: accountAt(instruction, places.quoteMint, 'the quote mint'),
    baseVault: accountAt(instruction, places.baseVault, "the pool's base account"),
    quoteVault: accountAt(instruction, places.quoteVault, "the pool's quote account"),
  }
}

function hopAccounts(instruction: Instruction, pool: string): Accounts {
  for (let start = HOPS_START; start < instruction.accounts.length; start += HOP_ACCOUNTS) {
    if (instruction.accounts[start + HOP_PLACES.pool] !== pool) continue
    const at = (place: keyof typeof HOP_PLACES) => accountAt(instruction, start + HOP_PLACES[place], `a hop's ${place}`)
    return {
      ...{ pool, baseMint: at('baseMint'), quoteMint: at('quoteMint') },
      ...{ baseVault: at('baseVault'), quoteVault: at('quoteVault') },
    }
  }
  throw new BadInstruction(instruction, 'disagreement', `the event names pool ${pool}, which is not a hop of the route`)
}

function poolOf({ pool, baseMint, quoteMint }: Accounts, creator: string | null): Pool {
  // Its fee depends on the market capitalisation.
  return { pool, amm: AMM, token0: baseMint, token1: quoteMint, fee: null, creator }
}
