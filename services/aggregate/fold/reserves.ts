/** Reserves of a pool as an event has them: raw integers as text, read as numbers once. */
import type { LiquidityEvent, SwapEvent } from '../../core/domain/records.js'

export type Reserves = {
  readonly text0: string | null
  readonly text1: string | null
  /** NaN: unknown. */
  readonly raw0: number
  readonly raw1: number
  /** Raw token1 per token0; NaN unless both are known. */
  readonly ratio: number
}

export function readReserves({ reserve0, reserve1 }: SwapEvent | LiquidityEvent): Reserves {
  const text0 = reserve0 ?? null
  const text1 = reserve1 ?? null
  const raw0 = text0 === null ? Number.NaN : Number(text0)
  const raw1 = text1 === null ? Number.NaN : Number(text1)
  return { text0, text1, raw0, raw1, ratio: raw0 > 0 && raw1 > 0 ? raw1 / raw0 : Number.NaN }
}
