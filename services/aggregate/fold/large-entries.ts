/** A log takes records only so large: what one block says of one pair may be told in several entries, the last one complete. */
import type { PairUpdate, Update } from '../../core/domain/records.js'

/** Trades are some 600 bytes each, ids some 20. */
const EVENTS_PER_ENTRY = 800
const IDS_PER_ENTRY = 20_000

export function splitPairEntry(entry: PairUpdate): PairUpdate[] {
  const { trades, liquidity } = entry
  if (trades.length + liquidity.length <= EVENTS_PER_ENTRY) return [entry]
  const entries: PairUpdate[] = []
  for (const part of slices(trades, EVENTS_PER_ENTRY))
    entries.push({ ...entry, candles: [], trades: part, liquidity: [] })
  for (const part of slices(liquidity, EVENTS_PER_ENTRY))
    entries.push({ ...entry, candles: [], trades: [], liquidity: part })
  const last = entries.pop() as PairUpdate
  return [...entries, { ...last, candles: entry.candles }]
}

export function splitRetracted(entry: Update['retracted'][number]): Update['retracted'] {
  if (entry.ids.length <= IDS_PER_ENTRY) return [entry]
  return slices(entry.ids, IDS_PER_ENTRY).map((ids) => ({ ...entry, ids }))
}

function slices<T>(list: T[], size: number): T[][] {
  const parts: T[][] = []
  for (let at = 0; at < list.length; at += size) parts.push(list.slice(at, at + size))
  return parts
}
