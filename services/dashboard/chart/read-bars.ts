/** Pages of a pair's or token's candles. */
import { ask } from '../app/session.js'
import { type Bar, barOf, type Currency, type IntervalName } from './series.js'

const PAGE = 500

export type ChartOf = { kind: 'pair' | 'token'; id: string }

/** The newest page, or the one before `beforeS`. */
export async function readBars(
  of: ChartOf,
  interval: IntervalName,
  currency: Currency,
  beforeS: number | undefined,
  signal: AbortSignal,
): Promise<Bar[]> {
  const range = {
    ...{ interval, category: currency, limit: PAGE },
    ...(beforeS === undefined ? {} : { to_time: beforeS - 1 }),
  }
  const { points } =
    of.kind === 'pair'
      ? await ask('klinesPair', { pair_id: of.id, ...range }, signal)
      : await ask('klinesToken', { token_id: of.id, ...range }, signal)
  return points.map(barOf)
}
