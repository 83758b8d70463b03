/** Events Orca's Whirlpool program has emitted since 2025 (orca-so/whirlpools: programs/whirlpool/src/events.rs). Amounts are as sent, transfer fees included. */

import { eventsNamed } from '../../instruction/pool-leg.js'
import { eventDiscriminator, readBytes } from '../../instruction/read-instruction.js'
import type { Instruction } from '../../transaction.js'
import type { ByteReader } from '../../wire/byte-reader.js'

const TRADED = eventDiscriminator('Traded')
const INCREASED = eventDiscriminator('LiquidityIncreased')
const DECREASED = eventDiscriminator('LiquidityDecreased')
const REPOSITIONED = eventDiscriminator('LiquidityRepositioned')

export type Traded = {
  pool: string
  isAIn: boolean
  sqrtPrice: bigint
  amountIn: bigint
  amountOut: bigint
  /** The transfer fee within the amount out. */
  withheld: bigint
}

/** In the order of the hops. */
export function tradesOf(instruction: Instruction): Traded[] {
  return eventsNamed(instruction, TRADED).map((payload) => readBytes(instruction, payload, readTraded))
}

function readTraded(reader: ByteReader): Traded {
  const pool = reader.pubkey()
  const isAIn = reader.bool()
  // The price before.
  const sqrtPrice = reader.skip(16).u128()
  const [amountIn, amountOut] = [reader.u64(), reader.u64()]
  // First the transfer fee within the amount in.
  const withheld = reader.skip(8).u64()
  // Fees of liquidity providers and protocol.
  reader.skip(2 * 8)
  return { pool, isAIn, sqrtPrice, amountIn, amountOut, withheld }
}

type Pair = readonly [bigint, bigint]

/** Per token, A before B. */
export type ReportedLiquidity = { pool: string; amounts: Pair }

export function increaseOf(instruction: Instruction): ReportedLiquidity | null {
  return changeOf(instruction, INCREASED)
}

export function decreaseOf(instruction: Instruction): ReportedLiquidity | null {
  return changeOf(instruction, DECREASED)
}

function changeOf(instruction: Instruction, discriminator: string): ReportedLiquidity | null {
  const [payload] = eventsNamed(instruction, discriminator)
  if (payload === undefined) return null
  return readBytes(instruction, payload, (reader) => {
    const pool = reader.pubkey()
    // The position, its two ticks, the liquidity.
    const amounts = [reader.skip(32 + 4 + 4 + 16).u64(), reader.u64()] as const
    reader.skip(2 * 8)
    return { pool, amounts }
  })
}

export type Repositioned = {
  pool: string
  removed: Pair
  added: Pair
  /** Only the difference is sent. */
  sent: Pair
  isFromOwner: readonly [boolean, boolean]
}

export function repositionOf(instruction: Instruction): Repositioned | null {
  const [payload] = eventsNamed(instruction, REPOSITIONED)
  if (payload === undefined) return null
  return readBytes(instruction, payload, (reader) => {
    const pool = reader.pubkey()
    // The position, the four ticks, both liquidities.
    const removed = [reader.skip(32 + 4 * 4 + 2 * 16).u64(), reader.u64()] as const
    const added = [reader.u64(), reader.u64()] as const
    const [sentA, isAFromOwner] = [reader.u64(), reader.skip(8).bool()]
    const [sentB, isBFromOwner] = [reader.u64(), reader.skip(8).bool()]
    return { pool, removed, added, sent: [sentA, sentB], isFromOwner: [isAFromOwner, isBFromOwner] }
  })
}
