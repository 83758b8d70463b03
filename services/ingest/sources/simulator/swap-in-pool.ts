/** One swap in one pool: changes reserves and balances, and writes the event. */
import { powerOfTen } from '../../../core/domain/money.js'
import type { Profile } from '../../../core/domain/records.js'
import { type Pool, type Token, wholeOf } from './market-state.js'
import { amountOut, curveSqrtPrice } from './pool-arithmetic.js'
import type { Stage } from './stage.js'

export type Swap = {
  pool: Pool
  wallet: number
  /** Buys the pool's base token. */
  buys: boolean
  amountIn: bigint
  /** The next pool of a route; else the wallet. */
  recipient?: string
}

/** A constant-product swap. The wallet must hold the input. 0: the input is too small, and nothing was written. */
export function swapInPool(stage: Stage, swap: Swap): bigint {
  const { pool, buys, amountIn } = swap
  const [reserveIn, reserveOut] = buys ? [pool.quoteReserve, pool.baseReserve] : [pool.baseReserve, pool.quoteReserve]
  const out = amountOut(amountIn, reserveIn, reserveOut, pool.feeBps)
  if (out > 0n) settle(stage, swap, out)
  return out
}

/** Moves both amounts and writes the swap. */
export function settle(stage: Stage, { pool, wallet, buys, amountIn, recipient }: Swap, out: bigint): void {
  const { ledger, writer, facts } = stage
  const { base, quote } = pool
  const before = facts.family === 'solana' ? { base: has(stage, base, wallet), quote: has(stage, quote, wallet) } : null
  ledger.touch(pool)
  ledger.change(buys ? quote : base, wallet, -amountIn)
  ledger.change(buys ? base : quote, wallet, out)
  pool.quoteReserve += buys ? amountIn : -out
  pool.baseReserve += buys ? -out : amountIn
  const address = ledger.walletAddress(wallet)
  const { tx_index, log_index, sub, tx_hash } = writer.place()
  writer.swaps += 1
  writer.events.push({
    type: 'swap',
    tx_index,
    log_index,
    sub,
    tx_hash,
    pool: pool.address,
    amm: pool.amm,
    sender: before === null ? pool.router : address,
    recipient: recipient ?? address,
    wallet: address,
    token_in: (buys ? quote : base).address,
    amount_in: amountIn.toString(),
    token_out: (buys ? base : quote).address,
    amount_out: out.toString(),
    reserve0: (pool.baseIs0 ? pool.baseReserve : pool.quoteReserve).toString(),
    reserve1: (pool.baseIs0 ? pool.quoteReserve : pool.baseReserve).toString(),
    sqrt_price: pool.curve === null ? null : curveSqrtPrice(facts.family, pool.curve, pool.baseIs0),
    profile: before === null ? null : profileOf(stage, pool, wallet, before),
  })
}

type Holding = { base: boolean; quote: boolean }
const has = ({ ledger }: Stage, token: Token, wallet: number): boolean => ledger.balanceOf(token, wallet) > 0n

function profileOf(stage: Stage, pool: Pool, wallet: number, before: Holding): Profile {
  const { ledger, state } = stage
  const [token0, token1] = pool.baseIs0 ? [pool.base, pool.quote] : [pool.quote, pool.base]
  const [had0, had1] = pool.baseIs0 ? [before.base, before.quote] : [before.quote, before.base]
  const held0 = ledger.balanceOf(token0, wallet)
  const held1 = ledger.balanceOf(token1, wallet)
  return {
    token0TotalHolding: wholeOf(token0, held0),
    token1TotalHolding: wholeOf(token1, held1),
    token0Address: token0.address,
    token1Address: token1.address,
    solTotalHolding: Number(ledger.balanceOf(state.native, wallet)) / powerOfTen(state.native.decimals),
    token0HasNewAccount: !had0 && held0 > 0n,
    token0HasClosedAccount: had0 && held0 === 0n,
    token0HasClearedAccount: had0 && held0 === 0n,
    token1HasNewAccount: !had1 && held1 > 0n,
    token1HasClosedAccount: had1 && held1 === 0n,
    token1HasClearedAccount: had1 && held1 === 0n,
  }
}
