/** Events and instructions of Moonshot, now Moonit (its IDL, `token_launchpad`, in npm's `@wen-moon-ser/moonshot-sdk`). */
import { eventDiscriminator } from '../../instruction/anchor.js'
import { readEventOf } from '../../instruction/read-instruction.js'
import type { Instruction } from '../../transaction.js'
import type { ByteReader } from '../../wire/byte-reader.js'

export type MoonshotTrade = {
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

export function moonshotMigration(instruction: Instruction): MoonshotMigration | null {
  return readEventOf(instruction, MIGRATION, readMigration)
}

/** From the instruction's own data. */
export function readMoonshotToken(reader: ByteReader): MoonshotToken {
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
