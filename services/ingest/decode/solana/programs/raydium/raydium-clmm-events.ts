/** Events of Raydium CLMM (raydium-clmm: programs/amm/src/states/pool.rs, personal_position.rs). Fields appended by later versions are not read. */

import { eventsNamed } from '../../instruction/pool-leg.js'
import { eventDiscriminator, readBytes } from '../../instruction/read-instruction.js'
import type { Instruction } from '../../transaction.js'
import type { ByteReader } from '../../wire/byte-reader.js'

const SWAP = eventDiscriminator('SwapEvent')
const POSITION_OPENED = eventDiscriminator('CreatePersonalPositionEvent')
const INCREASED = eventDiscriminator('IncreaseLiquidityEvent')
const DECREASED = eventDiscriminator('DecreaseLiquidityEvent')

type Pair = readonly [bigint, bigint]

export type ClmmSwap = {
  pool: string
  isZeroIn: boolean
  /** Per token: what arrives in the vault or wallet, and the transfer fee. */
  arrived: Pair
  withheld: Pair
  sqrtPrice: bigint
}

/** In the order of the hops. */
export function clmmSwapsOf(instruction: Instruction): ClmmSwap[] {
  return eventsNamed(instruction, SWAP).map((payload) =>
    readBytes(instruction, payload, (reader) => {
      const pool = reader.pubkey()
      // The sender and the wallet's two accounts.
      reader.skip(3 * 32)
      const [arrived0, withheld0] = [reader.u64(), reader.u64()]
      const [arrived1, withheld1] = [reader.u64(), reader.u64()]
      const isZeroIn = reader.bool()
      const sqrtPrice = reader.u128()
      // The liquidity and the tick.
      reader.skip(16 + 4)
      return { pool, isZeroIn, arrived: [arrived0, arrived1], withheld: [withheld0, withheld1], sqrtPrice }
    }),
  )
}

export type ClmmChange = {
  /** Null: the event does not name it. */
  pool: string | null
  amounts: Pair
  /** Moved between wallet and vaults; a decrease also pays the position's fees. */
  sent: Pair
}

/** Null: no event reports it. */
export function clmmOpeningOf(instruction: Instruction): ClmmChange | null {
  return changeOf(instruction, POSITION_OPENED, (reader) => {
    const pool = reader.pubkey()
    // Who pays and who owns it; its ticks; its liquidity.
    const sent = readSent(reader.skip(32 + 32 + 4 + 4 + 16))
    return { pool, amounts: sent, sent }
  })
}

export function clmmIncreaseOf(instruction: Instruction): ClmmChange | null {
  return changeOf(instruction, INCREASED, (reader) => {
    // The position's mint and its liquidity.
    const sent = readSent(reader.skip(32 + 16))
    return { pool: null, amounts: sent, sent }
  })
}

export function clmmDecreaseOf(instruction: Instruction): ClmmChange | null {
  return changeOf(instruction, DECREASED, (reader) => {
    reader.skip(32 + 16)
    const amounts = [reader.u64(), reader.u64()] as const
    const fees = [reader.u64(), reader.u64()] as const
    // Three rewards and two transfer fees, which are included above.
    reader.skip(3 * 8 + 2 * 8)
    return { pool: null, amounts, sent: [amounts[0] + fees[0], amounts[1] + fees[1]] }
  })
}

function readSent(reader: ByteReader): Pair {
  const [amount0, amount1] = [reader.u64(), reader.u64()]
  return [amount0 + reader.u64(), amount1 + reader.u64()]
}

function changeOf(
  instruction: Instruction,
  discriminator: string,
  read: (reader: ByteReader) => ClmmChange,
): ClmmChange | null {
  const [payload] = eventsNamed(instruction, discriminator)
  return payload === undefined ? null : readBytes(instruction, payload, read)
}
