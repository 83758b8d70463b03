/** Which events are signals. Each rule judges one event by itself, so that REST, pushes and a replay agree (docs/data.md). */
import type { LiquidityTrade, TokenInfo, Trade } from '../../core/domain/records.js'

export const SIGNAL_TYPES = ['whale_buy', 'whale_sell', 'first_liquidity', 'graduation', 'liquidity_pulled'] as const
export type SignalType = (typeof SIGNAL_TYPES)[number]

export const WHALE_USD = 50_000
export const LIQUIDITY_USD = 10_000

type JudgedTrade = Pick<Trade, 'flags' | 'amount_usd' | 'sell'>

/** Undefined: no signal. */
export function signalOfTrade({ flags, amount_usd: usd, sell }: JudgedTrade): SignalType | undefined {
  // Comparisons with NaN are false.
  if (!(usd >= WHALE_USD) || flags !== 0) return undefined
  return sell ? 'whale_sell' : 'whale_buy'
}

type JudgedLiquidity = Pick<LiquidityTrade, 'kind' | 'amount_usd' | 'amount0' | 'reserve0' | 'amount1' | 'reserve1'>

/** `isGraduated`: whether the event's pool is the one its token graduated to. */
export function signalOfLiquidity(event: JudgedLiquidity, isGraduated: boolean): SignalType | undefined {
  if (isGraduated && event.kind === 'create') return 'graduation'
  if (!(event.amount_usd >= LIQUIDITY_USD)) return undefined
  if (event.kind === 'create') return 'first_liquidity'
  return event.kind === 'remove' && isHalfGone(event) ? 'liquidity_pulled' : undefined
}

/** Whether a token left its launch curve for this pool. */
export function graduatedTo({ launch_stage, launch_pool }: TokenInfo, pair: string): boolean {
  return launch_stage === 'graduated' && launch_pool === pair
}

/** At least as much was taken out as is left, of both tokens. */
function isHalfGone({ amount0, reserve0, amount1, reserve1 }: JudgedLiquidity): boolean {
  if (reserve0 === null || reserve1 === null) return false
  return BigInt(amount0) >= BigInt(reserve0) && BigInt(amount1) >= BigInt(reserve1)
}
