/**
 * Raydium AMM v4 (raydium-amm: program/src/instruction.rs, processor.rs): coin and pc, each in a vault. Reserves are what the program counts as the
 * pool's, from its own record; without one, the vaults' balances, which include unclaimed protocol fees.
 */
import { BadInstruction, Malformed } from '../../decode-errors.js'
import {
  agreed,
  countedReserves,
  type Leg,
  movedBetween,
  movedByChange,
  type Reserves,
  type Side,
  swapOf,
  vaultMint,
  vaultReserves,
  withReserves,
} from '../../instruction/pool-leg.js'
import { accountAt, readBytes } from '../../instruction/read-instruction.js'
import type { Pool, Program, VenueEvent } from '../../program-decoder.js'
import type { Instruction } from '../../transaction.js'

const INITIALIZE_2 = 1
const DEPOSIT = 3
const WITHDRAW = 4
const SWAP_BASE_IN = 9
const SWAP_BASE_OUT = 11
const SWAP_BASE_IN_V2 = 16
const SWAP_BASE_OUT_V2 = 17

export const raydiumV4: Program = {
  name: 'raydium-v4',
  programIds: ['675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8'],
  decode(instruction, transaction) {
    const leg = { instruction, transaction }
    switch (instruction.data[0]) {
      case SWAP_BASE_IN:
      case SWAP_BASE_OUT:
        return [swap(leg, swapPlaces(instruction.accounts.length))]
      case SWAP_BASE_IN_V2:
      case SWAP_BASE_OUT_V2:
        return [swap(leg, { coinVault: 3, source: 5 })]
      case INITIALIZE_2:
        return initialize(leg)
      case DEPOSIT:
        return [deposit(leg)]
      case WITHDRAW:
        return [withdraw(leg)]
      default:
        return []
    }
  },
}

/** The pc vault follows the coin vault; the wallet's destination and its owner follow the source. */
type SwapPlaces = { coinVault: number; source: number }

/** The target-orders account is optional. */
function swapPlaces(accounts: number): SwapPlaces {
  return accounts === 17 ? { coinVault: 4, source: 14 } : { coinVault: 5, source: 15 }
}

function swap(leg: Leg, { coinVault, source }: SwapPlaces): VenueEvent {
  const { instruction } = leg
  const vaults = vaultsAt(leg, coinVault)
  const from = accountAt(instruction, source, 'the source')
  const to = accountAt(instruction, source + 1, 'the destination')
  const sender = accountAt(instruction, source + 2, 'the owner')
  const log = rayLogOf(instruction)
  if (log !== null && log.kind !== 'swap') throw unexpected(leg, log)
  const isCoinIn = log?.isCoinIn ?? isPaidInto(leg, from, vaults)
  const [coin, pc] = [sideOf(leg, vaults[0], isCoinIn ? from : to), sideOf(leg, vaults[1], isCoinIn ? to : from)]
  const [input, output] = isCoinIn ? [coin, pc] : [pc, coin]
  const pool = poolOf(leg, 1, coin.mint, pc.mint)
  const settled = swapOf(leg, { pool, sender, input, output }, log)
  const { amountIn, amountOut } = settled
  const [toCoin, toPc] = isCoinIn ? [amountIn, -amountOut] : [-amountOut, amountIn]
  return withReserves(settled, reservesOf(leg, vaults, log, toCoin, toPc), null)
}

function isPaidInto({ instruction }: Leg, from: string, [coinVault]: Vaults): boolean {
  return (movedBetween(instruction, from, coinVault) ?? 0n) > 0n
}

function initialize(leg: Leg): VenueEvent[] {
  const { instruction } = leg
  const pool = poolOf(leg, 4, accountAt(instruction, 8, 'the coin mint'), accountAt(instruction, 9, 'the pc mint'))
  const sender = accountAt(instruction, 17, 'the creator')
  const vaults = vaultsAt(leg, 10)
  const users = [accountAt(instruction, 18, 'the coin account'), accountAt(instruction, 19, 'the pc account')] as const
  const log = rayLogOf(instruction)
  if (log !== null && log.kind !== 'init') throw unexpected(leg, log)
  // Reported are the vaults' totals, which may include an earlier balance.
  const amount0 = movedBetween(instruction, users[0], vaults[0]) ?? log?.poolCoin ?? null
  const amount1 = movedBetween(instruction, users[1], vaults[1]) ?? log?.poolPc ?? null
  const created = { ...pool, creator: sender }
  const reserves = reservesOf(leg, vaults, log, 0n, 0n)
  const amounts = {
    amount0: agreed(instruction, 'coin', null, amount0),
    amount1: agreed(instruction, 'pc', null, amount1),
  }
  return [
    { kind: 'pool', instruction, pool: created },
    { kind: 'liquidity', instruction, pool: created, change: 'create', sender, ...amounts, ...reserves },
  ]
}

/** Eleven accounts: without the market's. */
function deposit(leg: Leg): VenueEvent {
  const isShort = leg.instruction.accounts.length === 11
  return liquidity(
    leg,
    'deposit',
    isShort ? { coinVault: 5, coin: 7, owner: 10 } : { coinVault: 6, coin: 9, owner: 12 },
  )
}

/** Two more before the market's where there are 22 or 23. */
function withdraw(leg: Leg): VenueEvent {
  const { length } = leg.instruction.accounts
  if (length === 11) return liquidity(leg, 'withdraw', { coinVault: 5, coin: 8, owner: 10 })
  const more = length >= 22 ? 2 : 0
  return liquidity(leg, 'withdraw', { coinVault: 6, coin: 14 + more, owner: 16 + more })
}

function liquidity(
  leg: Leg,
  kind: 'deposit' | 'withdraw',
  places: { coinVault: number; coin: number; owner: number },
): VenueEvent {
  const { instruction } = leg
  const vaults = vaultsAt(leg, places.coinVault)
  const coin = sideOf(leg, vaults[0], accountAt(instruction, places.coin, 'the coin account'))
  const pc = sideOf(leg, vaults[1], accountAt(instruction, places.coin + 1, 'the pc account'))
  const sender = accountAt(instruction, places.owner, 'the owner')
  const log = rayLogOf(instruction)
  if (log !== null && log.kind !== kind) throw unexpected(leg, log)
  const isDeposit = kind === 'deposit'
  const amount0 = agreed(instruction, 'coin', log?.coin ?? null, movedByChange(instruction, coin, isDeposit))
  const amount1 = agreed(instruction, 'pc', log?.pc ?? null, movedByChange(instruction, pc, isDeposit))
  const [toCoin, toPc] = isDeposit ? [amount0, amount1] : [-amount0, -amount1]
  const reserves = reservesOf(leg, vaults, log, toCoin, toPc)
  const pool = poolOf(leg, 1, coin.mint, pc.mint)
  const change = isDeposit ? 'add' : 'remove'
  return { kind: 'liquidity', instruction, pool, change, sender, amount0, amount1, ...reserves }
}

type Vaults = readonly [string, string]

function vaultsAt({ instruction }: Leg, coinVault: number): Vaults {
  return [accountAt(instruction, coinVault, 'the coin vault'), accountAt(instruction, coinVault + 1, 'the pc vault')]
}

function sideOf(leg: Leg, vault: string, user: string): Side {
  return { user, vault, mint: vaultMint(leg, vault) }
}

function poolOf({ instruction }: Leg, place: number, token0: string, token1: string): Pool {
  const pool = accountAt(instruction, place, 'the pool')
  return { pool, amm: 'raydium', token0, token1, fee: null, creator: null }
}

function reservesOf(leg: Leg, vaults: Vaults, log: RayLog | null, toCoin: bigint, toPc: bigint): Reserves {
  return log === null ? vaultReserves(leg, vaults) : countedReserves(log.poolCoin + toCoin, log.poolPc + toPc)
}

function unexpected({ instruction }: Leg, { kind }: RayLog): BadInstruction {
  return new BadInstruction(
    instruction,
    'disagreement',
    `instruction ${instruction.data[0]} logged a ray_log of kind ${kind}`,
  )
}

/** The program's own records, `ray_log: <base64>` (raydium-amm: program/src/log.rs). Pool amounts are from before, less what the protocol may withdraw. */
const PREFIX = 'ray_log: '
const [INIT_LOG, DEPOSIT_LOG, WITHDRAW_LOG, SWAP_BASE_IN_LOG, SWAP_BASE_OUT_LOG] = [0, 1, 2, 3, 4]
const [PC_TO_COIN, COIN_TO_PC] = [1n, 2n]

type PoolAmounts = { poolCoin: bigint; poolPc: bigint }

type RayLog =
  | ({ kind: 'init' } & PoolAmounts)
  | ({ kind: 'deposit' | 'withdraw'; coin: bigint; pc: bigint } & PoolAmounts)
  | ({ kind: 'swap'; isCoinIn: boolean; amountIn: bigint; amountOut: bigint } & PoolAmounts)

/** Null: it logged none, or the logs are truncated. */
export function rayLogOf(instruction: Instruction): RayLog | null {
  const line = instruction.programLogs?.findLast((each) => each.startsWith(PREFIX))
  return line === undefined ? null : readRayLog(instruction, line.slice(PREFIX.length))
}

function readRayLog(instruction: Instruction, text: string): RayLog {
  return readBytes(instruction, Buffer.from(text, 'base64'), (reader) => {
    const kind = reader.u8()
    switch (kind) {
      case INIT_LOG: {
        reader.skip(8 + 1 + 1 + 8 + 8)
        const [poolPc, poolCoin] = [reader.u64(), reader.u64()]
        return { kind: 'init', poolCoin, poolPc }
      }
      case DEPOSIT_LOG:
      case WITHDRAW_LOG: {
        // A deposit's limits and its base side; a withdrawal's share and what the wallet had of it.
        reader.skip(kind === DEPOSIT_LOG ? 3 * 8 : 2 * 8)
        const [poolCoin, poolPc] = [reader.u64(), reader.u64()]
        reader.skip(8 + 16 + 16)
        const [coin, pc] = [reader.u64(), reader.u64()]
        return { kind: kind === DEPOSIT_LOG ? 'deposit' : 'withdraw', coin, pc, poolCoin, poolPc }
      }
      case SWAP_BASE_IN_LOG:
      case SWAP_BASE_OUT_LOG: {
        const [first, second, direction] = [reader.u64(), reader.u64(), reader.u64()]
        if (direction !== PC_TO_COIN && direction !== COIN_TO_PC) throw new Malformed(`unknown direction ${direction}`)
        const [poolCoin, poolPc] = [reader.skip(8).u64(), reader.u64()]
        const result = reader.u64()
        // In: the amount paid and the minimum out; out: the maximum in and the amount wanted.
        const [amountIn, amountOut] = kind === SWAP_BASE_IN_LOG ? [first, result] : [result, second]
        return { kind: 'swap', isCoinIn: direction === COIN_TO_PC, amountIn, amountOut, poolCoin, poolPc }
      }
      default:
        throw new BadInstruction(instruction, 'malformed', `unknown ray_log kind ${kind}`)
    }
  })
}
