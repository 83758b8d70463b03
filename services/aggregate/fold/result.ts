/** What applying one log record gave: the update, and what only the sink needs beside it. */
import type { Update } from '../../core/domain/records.js'
import type { EventKey } from '../state/journal.js'
import type { CandleKey } from './merge-candles.js'

/** `balance` null: the holder never was. */
export type HolderChange = { token: string; holder: string; balance: string | null; updatedAtS: number }

export type MainPairTombstone = { token: string; block: number }

export type DeadEvent = { reason: string; detail: string; position: string; block: number; raw: string }

export type FoldResult = {
  update: Update
  holders: HolderChange[]
  dead: DeadEvent[]
  /** Stored rows that never were. */
  goneEvents: EventKey[]
  /** Candles of pairs that are gone themselves; those of living pairs are in the update. */
  goneCandles: (CandleKey & { pair: string })[]
  goneMainPairs: MainPairTombstone[]
  /** Swaps that applied, for progress. */
  swaps: number
}
