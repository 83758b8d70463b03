/** The interface of a program's decoder. Pure: one instruction in, its venue events out. */
import type { LaunchStage, LiquidityKind } from '../../../core/domain/records.js'
import type { Instruction, SolanaTransaction } from './transaction.js'

/** The pool of a venue event; published before its first event. */
export type Pool = {
  /** The account of the pool or curve. */
  pool: string
  amm: string
  /** Mints in the program's own order. */
  token0: string
  token1: string
  /** Hundredths of a basis point; null: unknown or variable. */
  fee: number | null
  creator: string | null
}

/** Reserves after the event, raw and real (never virtual); null: unknown. */
type Reserves = { reserve0: bigint | null; reserve1: bigint | null }

export type VenueEvent = { instruction: Instruction } & (
  | ({
      kind: 'swap'
      pool: Pool
      sender: string
      recipient: string
      tokenIn: string
      amountIn: bigint
      tokenOut: string
      amountOut: bigint
      /** Q64.64, where the program has one. */
      sqrtPrice: bigint | null
    } & Reserves)
  | ({
      kind: 'liquidity'
      pool: Pool
      change: LiquidityKind
      sender: string
      amount0: bigint
      amount1: bigint
    } & Reserves)
  | { kind: 'pool'; pool: Pool }
  | {
      kind: 'launch'
      token: string
      platform: string
      stage: LaunchStage
      progress: number | null
      pool: string | null
    }
  | {
      kind: 'token'
      token: string
      name: string | null
      symbol: string | null
      decimals: number | null
      uri: string | null
    }
)

export interface Program {
  /** Names it in docs and configuration: `raydium-v4`, `pump-amm` … */
  readonly name: string
  readonly programIds: readonly string[]
  /** Its price is not the ratio of its reserves (curves, bins, ranges): without a stated price, each trade's own price is used. */
  readonly isPricedByTrades?: boolean
  /**
   * The venue events of one instruction, which includes its inner instructions. Amounts come from the program's own event and are
   * checked against its token transfers. Throws `BadInstruction` if they disagree, a field is malformed, or the amounts are
   * unknown. Empty for an instruction that neither trades nor moves liquidity.
   */
  decode(instruction: Instruction, transaction: SolanaTransaction): VenueEvent[]
}
