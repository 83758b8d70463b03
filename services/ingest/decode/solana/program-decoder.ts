/** What every program's decoder is. Pure: one instruction of a transaction in, what happened in its pool out. */
import type { LaunchStage, LiquidityKind } from '../../../core/domain/records.js'
import type { Instruction, SolanaTransaction } from './transaction.js'

/** The pool a happening belongs to; told to the log before its first event. */
export type Pool = {
  /** The pool's account; a curve's is its own account too. */
  pool: string
  amm: string
  /** Mints in the program's own order. */
  token0: string
  token1: string
  /** Hundredths of a basis point; null: not told, or not one number. */
  fee: number | null
  creator: string | null
}

/** Reserves right after it, raw and real (never virtual); null: not known. */
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
  /** Its price is not the ratio of its reserves (curves, bins, ranges): where it states none, what each trade was made at stands for it. */
  readonly isPricedByTrades?: boolean
  /**
   * What one instruction of this program did; its inner instructions are handed in with it. Amounts come from the program's own
   * event first; the token transfers it made are the cross-check. Throws `BadInstruction` where they disagree, where a field is
   * garbage, or where nothing tells the amounts. An instruction that trades nothing and moves no liquidity gives none.
   */
  decode(instruction: Instruction, transaction: SolanaTransaction): VenueEvent[]
}
