/**
 * Moonshot (now Moonit): tokens sold on a curve against SOL, then moved to Raydium or Meteora by another transaction (its IDL,
 * `token_launchpad`, in npm's `@wen-moon-ser/moonshot-sdk`). Amounts are the curve's, without fees.
 * SOL is native here and reported as wrapped SOL, as in every other pool.
 */
import {
  accountAt,
  discriminatorOf,
  eventDiscriminator,
  instructionDiscriminator,
  payloadOf,
  readBytes,
  readEventOf,
  refuseWithoutEvent,
} from '../../instruction/read-instruction.js'
import { type Call, expectPool, expectSame } from '../../instruction/vault-pool.js'
import { balanceAfter, netInto, transfersIn } from '../../instruction/vaults.js'
import { WRAPPED_SOL } from '../../native-programs.js'
import type { Pool, Program, VenueEvent } from '../../program-decoder.js'
import { type Instruction, subtree } from '../../transaction.js'
import type { ByteReader } from '../../wire/byte-reader.js'
import { curveLamports, curveProgress } from './moonshot-curve.js'

const AMM = 'moonshot'

const BUY = instructionDiscriminator('buy')
const SELL = instructionDiscriminator('sell')
const CREATE = instructionDiscriminator('token_mint')
const MIGRATE = instructionDiscriminator('migrate_funds')

export const moonshot: Program = {
  name: 'moonshot',
  programIds: ['MoonCVVNZFSYkqNXP6bxHLPL6QQJiMagDL3qcqUQTrG'],
  isPricedByTrades: true,
  decode(instruction, transaction) {
    const call = { instruction, transaction }
    switch (discriminatorOf(instruction.data)) {
      case BUY:
      case SELL:
        return trade(call, moonshotTrade(instruction) ?? refuseWithoutEvent(instruction, 'a trade'))
      case CREATE:
        return create(call)
      case MIGRATE:
        return graduate(call)
      default:
        return []
    }
  },
}

function curveOf(pool: string, token0: string, creator: string | null): Pool {
  return { pool, amm: AMM, token0, token1: WRAPPED_SOL, fee: null, creator }
}

function trade(call: Call, reported: MoonshotTrade): VenueEvent[] {
  const { instruction, transaction } = call
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  const [sender, curve, vault, mint] = [
    at(0, 'the sender'),
    at(2, 'the curve'),
    at(3, "the curve's tokens"),
    at(6, 'the mint'),
  ]
  const isBuy = discriminatorOf(instruction.data) === BUY
  expectPool(instruction, curve, reported.curve)
  expectPool(instruction, sender, reported.sender)
  expectPool(instruction, WRAPPED_SOL, reported.collateral)
  expectPool(instruction, isBuy ? 'a buy' : 'a sale', reported.isBuy ? 'a buy' : 'a sale')
  const tokens = netInto(transfersIn(instruction), vault)
  expectSame(instruction, 'the amount of tokens', reported.tokenAmount, isBuy ? -tokens : tokens)
  const lamports = curveLamports(call, curve)
  expectLamports(call, curve, reported, lamports)
  const [[tokenIn, amountIn], [tokenOut, amountOut]] = isBuy
    ? ([
        [WRAPPED_SOL, reported.collateralAmount],
        [mint, reported.tokenAmount],
      ] as const)
    : ([
        [mint, reported.tokenAmount],
        [WRAPPED_SOL, reported.collateralAmount],
      ] as const)
  const progress = curveProgress(reported.sold, lamports.after)
  return [
    {
      ...{ kind: 'swap', instruction, pool: curveOf(curve, mint, null), sender, recipient: sender },
      ...{ tokenIn, amountIn, tokenOut, amountOut, sqrtPrice: null },
      ...{ reserve0: balanceAfter(transaction, vault, instruction), reserve1: lamports.after },
    },
    { kind: 'launch', instruction, token: mint, platform: AMM, stage: 'curve', progress, pool: curve },
  ]
}

/** A buyer sends it in a transfer; what a sale pays appears only in the curve's balance. */
function expectLamports(
  { instruction }: Call,
  curve: string,
  { isBuy, collateralAmount }: MoonshotTrade,
  { before, after }: { before: bigint | null; after: bigint | null },
): void {
  if (isBuy) {
    let sent = 0n
    for (const { transfer } of subtree(instruction))
      if (transfer?.mint === null && transfer.destination === curve) sent += transfer.amount
    expectSame(instruction, 'the amount of lamports', collateralAmount, sent)
  } else if (before !== null && after !== null) {
    expectSame(instruction, 'the amount of lamports', collateralAmount, before - after)
  }
}

/** The whole supply goes to the curve. */
function create({ instruction }: Call): VenueEvent[] {
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  const [sender, curve, token] = [at(0, 'the creator'), at(2, 'the curve'), at(3, 'the mint')]
  const { name, symbol, uri, decimals, supply } = readBytes(instruction, payloadOf(instruction.data), readMoonshotToken)
  const pool = curveOf(curve, token, sender)
  return [
    { kind: 'token', instruction, token, name, symbol, decimals, uri },
    { kind: 'pool', instruction, pool },
    { kind: 'launch', instruction, token, platform: AMM, stage: 'created', progress: 0, pool: curve },
    {
      ...{ kind: 'liquidity', instruction, pool, change: 'create', sender },
      ...{ amount0: supply, amount1: 0n, reserve0: supply, reserve1: 0n },
    },
  ]
}

/** The new pool is opened later, by another program. Surplus tokens are burnt. */
function graduate({ instruction }: Call): VenueEvent[] {
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  const [sender, curve, token] = [at(1, 'the migrator'), at(2, 'the curve'), at(5, 'the mint')]
  const [vault, receiver] = [at(3, "the curve's tokens"), at(4, 'the account they go to')]
  const reported = moonshotMigration(instruction) ?? refuseWithoutEvent(instruction, 'a migration')
  const transfers = transfersIn(instruction)
  expectSame(instruction, 'the amount of tokens', reported.tokensMigrated, netInto(transfers, receiver))
  return [
    {
      ...{ kind: 'liquidity', instruction, pool: curveOf(curve, token, null), change: 'remove', sender },
      ...{ amount0: -netInto(transfers, vault), amount1: reported.collateralMigrated, reserve0: 0n, reserve1: 0n },
    },
    { kind: 'launch', instruction, token, platform: AMM, stage: 'graduated', progress: 1, pool: null },
  ]
}

type MoonshotTrade = {
  tokenAmount: bigint
  /** What the curve received or paid. A buyer pays fees on top of it, a seller out of it. */
  collateralAmount: bigint
  dexFee: bigint
  helioFee: bigint
  /** Tokens sold so far. */
  sold: bigint
  curve: string
  collateral: string
  sender: string
  isBuy: boolean
}

export type MoonshotMigration = {
  tokensMigrated: bigint
  tokensBurned: bigint
  collateralMigrated: bigint
  fee: bigint
}

export type MoonshotToken = { name: string; symbol: string; uri: string; decimals: number; supply: bigint }

const TRADE = eventDiscriminator('TradeEvent')
const MIGRATION = eventDiscriminator('MigrationEvent')

export function moonshotTrade(instruction: Instruction): MoonshotTrade | null {
  return readEventOf(instruction, TRADE, readTrade)
}

function moonshotMigration(instruction: Instruction): MoonshotMigration | null {
  return readEventOf(instruction, MIGRATION, readMigration)
}

/** From the instruction's own data. */
function readMoonshotToken(reader: ByteReader): MoonshotToken {
  const [name, symbol, uri] = [reader.string(), reader.string(), reader.string()]
  const decimals = reader.u8()
  return { name, symbol, uri, decimals, supply: reader.skip(1).u64() }
}

function readTrade(reader: ByteReader): MoonshotTrade {
  const [tokenAmount, collateralAmount, dexFee, helioFee] = [reader.u64(), reader.u64(), reader.u64(), reader.u64()]
  const sold = reader.u64()
  const [curve, collateral, sender] = [reader.pubkey(), reader.pubkey(), reader.pubkey()]
  const isBuy = !reader.bool()
  return { tokenAmount, collateralAmount, dexFee, helioFee, sold, curve, collateral, sender, isBuy }
}

function readMigration(reader: ByteReader): MoonshotMigration {
  const [tokensMigrated, tokensBurned] = [reader.u64(), reader.u64()]
  return { tokensMigrated, tokensBurned, collateralMigrated: reader.u64(), fee: reader.u64() }
}
