/**
 * A pool with its own two vaults: checks the amounts in its program's event against the vaults' transfers.
 * Amounts are the trader's: sent and received. A Token-2022 mint may withhold a part of each transfer, and programs
 * differ in whether their events include it; either amount must be exact as far as the balances show it.
 */
import type { LiquidityKind } from '../../../../core/domain/records.js'
import { BadInstruction } from '../decode-errors.js'
import { TOKEN_2022 } from '../native-programs.js'
import type { Pool, VenueEvent } from '../program-decoder.js'
import type { Instruction, SolanaTransaction, Transfer } from '../transaction.js'
import { balanceAfter, balanceBefore, netInto, ownerOf, transfersIn } from './vaults.js'

export type Pair<T> = readonly [T, T]

export type Call = { instruction: Instruction; transaction: SolanaTransaction }

export type VaultPool = { pool: Pool; vaults: Pair<string>; tokenPrograms: Pair<string> }

export type Trader = { sender: string; source: string; destination: string }

export type ReportedSwap = {
  isZeroIn: boolean
  amountIn: bigint
  amountOut: bigint
  sqrtPrice: bigint | null
  /** Null: the event has none, so the vaults' balances are used. */
  reserves: Pair<bigint | null> | null
}

export type ReportedLiquidity = {
  change: LiquidityKind
  sender: string
  /** The provider's token accounts. */
  accounts: Pair<string>
  amounts: Pair<bigint>
  reserves: Pair<bigint | null> | null
}

/** Empty if nothing was traded. */
export function swapThrough(
  call: Call,
  { pool, vaults, tokenPrograms }: VaultPool,
  trader: Trader,
  reported: ReportedSwap,
): VenueEvent[] {
  const { instruction, transaction } = call
  const [from, to] = reported.isZeroIn ? ([0, 1] as const) : ([1, 0] as const)
  const transfers = transfersIn(instruction)
  const sent = moved(call, transfers, trader.source, vaults[from], tokenPrograms[from])
  const paid = moved(call, transfers, vaults[to], trader.destination, tokenPrograms[to])
  agree(instruction, 'the amount in', reported.amountIn, sent)
  agree(instruction, 'the amount out', reported.amountOut, paid)
  if (sent.amount === 0n && paid.amount === 0n) return []
  const amountOut = paid.reached ?? reported.amountOut
  if (amountOut < 0n)
    throw new BadInstruction(instruction, 'malformed', `more than the ${paid.amount} sent is withheld`)
  const { reserve0, reserve1 } = reservesAfter(call, vaults, reported.reserves)
  return [
    {
      kind: 'swap',
      instruction,
      pool,
      sender: trader.sender,
      recipient: ownerOf(transaction, trader.destination) ?? trader.sender,
      tokenIn: reported.isZeroIn ? pool.token0 : pool.token1,
      amountIn: sent.amount,
      tokenOut: reported.isZeroIn ? pool.token1 : pool.token0,
      amountOut,
      sqrtPrice: reported.sqrtPrice,
      reserve0,
      reserve1,
    },
  ]
}

/** Amounts as sent. Empty if nothing moved. */
export function liquidityThrough(
  call: Call,
  { pool, vaults, tokenPrograms }: VaultPool,
  reported: ReportedLiquidity,
): VenueEvent[] {
  const { instruction } = call
  const transfers = transfersIn(instruction)
  const amountAt = (side: 0 | 1): bigint => {
    const [account, vault] = [reported.accounts[side], vaults[side]]
    const [from, to] = reported.change === 'remove' ? [vault, account] : [account, vault]
    const amount = moved(call, transfers, from, to, tokenPrograms[side])
    agree(instruction, `the amount of token${side}`, reported.amounts[side], amount)
    return amount.amount
  }
  const [amount0, amount1] = [amountAt(0), amountAt(1)]
  if (amount0 === 0n && amount1 === 0n) return []
  const { change, sender } = reported
  return [
    {
      kind: 'liquidity',
      instruction,
      pool,
      change,
      sender,
      amount0,
      amount1,
      ...reservesAfter(call, vaults, reported.reserves),
    },
  ]
}

/** No liquidity moved, so the amounts are 0; the event carries the reserves after fees were paid out of the vaults. */
export function feesPaid(call: Call, { pool, vaults }: Omit<VaultPool, 'tokenPrograms'>, sender: string): VenueEvent[] {
  const { instruction } = call
  if (!transfersIn(instruction).some(({ source, amount }) => amount > 0n && vaults.includes(source))) return []
  const nothing = { amount0: 0n, amount1: 0n }
  return [
    {
      kind: 'liquidity',
      instruction,
      pool,
      change: 'remove',
      sender,
      ...nothing,
      ...reservesAfter(call, vaults, null),
    },
  ]
}

export function expectSame(instruction: Instruction, what: string, reported: bigint, amount: bigint): void {
  if (reported === amount) return
  throw new BadInstruction(
    instruction,
    'disagreement',
    `${what} is ${reported} in the event and ${amount} in the transfers`,
  )
}

export function expectPool(instruction: Instruction, account: string, reported: string): void {
  if (account === reported) return
  throw new BadInstruction(
    instruction,
    'disagreement',
    `the pool is ${reported} in the event and ${account} in the instruction`,
  )
}

export function reservesAfter(
  { instruction, transaction }: Call,
  vaults: Pair<string>,
  reported: Pair<bigint | null> | null,
): { reserve0: bigint | null; reserve1: bigint | null } {
  const at = (side: 0 | 1) =>
    reported === null ? balanceAfter(transaction, vaults[side], instruction) : reported[side]
  return { reserve0: at(0), reserve1: at(1) }
}

type Moved = {
  /** As sent. */
  amount: bigint
  /** Null: an unknown part may have been withheld. */
  reached: bigint | null
}

function moved(call: Call, transfers: readonly Transfer[], from: string, to: string, tokenProgram: string): Moved {
  let [amount, withheld] = [0n, 0n]
  for (const { source, destination, amount: sent, fee } of transfers) {
    if (source !== from || destination !== to) continue
    amount += sent
    withheld += fee
  }
  if (tokenProgram !== TOKEN_2022 || amount === 0n) return { amount, reached: amount }
  return { amount, reached: withheld > 0n ? amount - withheld : reached(call, transfers, to, amount) }
}

/** Plain Token-2022 transfers do not state what is withheld; the balances before and after do. */
function reached({ instruction, transaction }: Call, transfers: readonly Transfer[], to: string, amount: bigint) {
  const [before, after] = [balanceBefore(transaction, to, instruction), balanceAfter(transaction, to, instruction)]
  if (before === null || after === null) return null
  const others = netInto(transfers, to) - amount
  return after - before - others
}

function agree(instruction: Instruction, what: string, reported: bigint, { amount, reached }: Moved): void {
  if (reported === reached || (reached === null && reported < amount)) return
  expectSame(instruction, what, reported, amount)
}
