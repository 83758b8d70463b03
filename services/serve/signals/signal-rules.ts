/** Which events are signals (docs/data.md). Rules read only what is stored and what an update carries: REST, pushes and a replay agree. */
import type { LiquidityTrade, TokenInfo, Trade } from '../../core/domain/records.js'

export const SIGNAL_TYPES = [
  ...(['whale_buy', 'whale_sell', 'first_liquidity', 'graduation', 'liquidity_pulled'] as const),
  ...(['volume_breakout', 'smart_buys'] as const),
] as const
export type SignalType = (typeof SIGNAL_TYPES)[number]

export const WHALE_USD = 50_000
export const LIQUIDITY_USD = 10_000
/** Of a pair's volume in a clock hour, against its other volume of the last 24 hours. */
export const BREAKOUT = { leastHourUsd: 10_000, leastPastUsd: 1_000, shareOfPast: 0.5 } as const

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

/** The volume at which a pair's hour is a breakout; NaN: the pair has too little past to compare with. */
export function breakoutLevelUsd(pastUsd: number): number {
  const { leastHourUsd, leastPastUsd, shareOfPast } = BREAKOUT
  return pastUsd >= leastPastUsd ? Math.max(leastHourUsd, shareOfPast * pastUsd) : Number.NaN
}

/**
 * Index of the good trade that lifts an hour's volume to the level; -1: none does, or a flagged trade. `beforeUsd`: the hour's volume
 * before these trades.
 */
export function breakoutTrade(
  trades: readonly Pick<Trade, 'flags' | 'amount_usd'>[],
  beforeUsd: number,
  levelUsd: number,
): number {
  if (!(beforeUsd < levelUsd)) return -1
  let volumeUsd = beforeUsd
  const index = trades.findIndex(({ amount_usd: usd }) => {
    volumeUsd += Number.isNaN(usd) ? 0 : usd
    return volumeUsd >= levelUsd
  })
  return trades[index]?.flags === 0 ? index : -1
}

/** Several smart wallets buy one token. Ranked an hour before the day begins, so that the ranking is there when it does. */
export const SMART_BUYS = {
  ...{ leastWallets: 3, withinS: 600 },
  ...{ rankedDays: 7, rankedWallets: 200, rankedBeforeS: 3_600 },
} as const

type Buy = { token: string; wallet: string; timeS: number }

/** The buys with which a token has enough smart wallets, each with the first buy of every other one. `buys` are in order. */
export function smartBuys<B extends Buy>(buys: readonly B[]): { last: B; earlier: B[] }[] {
  const byToken = new Map<string, B[]>()
  return buys.flatMap((buy) => {
    const recent = (byToken.get(buy.token) ?? []).filter(({ timeS }) => timeS > buy.timeS - SMART_BUYS.withinS)
    byToken.set(buy.token, [...recent, buy])
    const firsts = new Map<string, B>()
    for (const one of recent) if (!firsts.has(one.wallet)) firsts.set(one.wallet, one)
    const completes = firsts.size === SMART_BUYS.leastWallets - 1 && !firsts.has(buy.wallet)
    return completes ? [{ last: buy, earlier: [...firsts.values()] }] : []
  })
}
