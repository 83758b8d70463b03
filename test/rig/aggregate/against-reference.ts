/** Compares every number of a reader of updates with the reference; returns the paths that differ. */
import type { ChainFacts } from '../../../services/core/domain/chains.js'
import type { Window } from '../../../services/core/domain/packed-windows.js'
import { differences } from '../reference/compare.js'
import type { Reference } from '../reference/recompute.js'
import type { Reader } from './reader.js'

type Skip = (key: string, field: string) => boolean

export function differencesFromReference(reader: Reader, reference: Reference, facts: ChainFacts): string[] {
  const pairs = new Map([...reader.pairs].map(([key, pair]) => [key, { ...pair, ...pair.info }]))
  const tokens = new Map([...reader.tokens].map(([key, token]) => [key, { ...token.info, ...token }]))
  // Updates carry only the minute-based windows: the last four of the reference's six.
  const inUpdateWindows = <T extends { windows: Window[] }>(all: ReadonlyMap<string, T>) =>
    new Map([...all].map(([key, entry]) => [key, { ...entry, windows: entry.windows.slice(2) }]))
  const trades = new Map(reference.trades.map((trade) => [`${trade.pair}|${trade.id}`, trade]))
  const pegged = new Set([facts.anchor, ...facts.stables])
  return [
    ...differences(reader.last?.number ?? null, reference.head?.number ?? null, 'head'),
    ...differences(reader.last?.now ?? 0, reference.now, 'now'),
    ...compareMaps(
      'trades',
      reader.trades,
      trades,
      (_, field) => field === 'target_amount' || field === 'quote_amount',
    ),
    ...differences(reader.holderHours, reference.holderHours, 'holderHours'),
    ...compareMaps('pairHours', reader.pairHours, reference.pairHours, () => false),
    ...compareMaps('candles', reader.candles, reference.candles, () => false),
    // A pair's update has the quote's price at its last block, and its tokens only in `info`.
    ...compareMaps('pairs', pairs, inUpdateWindows(reference.pairs), (_, field) =>
      ['quote_usd', 'target_token', 'quote_token'].includes(field),
    ),
    // The native price of anchor and stables follows the native coin's without an update.
    ...compareMaps(
      'tokens',
      tokens,
      inUpdateWindows(reference.tokens),
      (key, field) => field === 'price_native' && pegged.has(key),
    ),
    ...differences(reader.holders, reference.holders, 'holders'),
  ]
}

/** Fields that only the reader has are skipped: the reference holds only what can be recomputed. */
function compareMaps(
  name: string,
  got: ReadonlyMap<string, object>,
  expected: ReadonlyMap<string, object>,
  skip: Skip,
): string[] {
  const all = [...got.keys()].filter((key) => !expected.has(key)).map((key) => `${name}.${key}: not in the reference`)
  for (const [key, right] of expected) {
    const left = got.get(key) as Record<string, unknown> | undefined
    if (left === undefined) {
      all.push(`${name}.${key}: missing`)
      continue
    }
    for (const [field, value] of Object.entries(right)) {
      if (skip(key, field)) continue
      const different = differences(left[field], value, field).filter((path) => !skip(key, path))
      all.push(...different.map((path) => `${name}.${key}.${path}`))
    }
  }
  return all
}
