/** Closes of the last twelve hours, read for rows that are seen, two at a time. */
import { ask } from '../app/session.js'
import { createValue, oncePerFrame } from '../app/store.js'

const POINTS = 48
const AT_ONCE = 2
const KEPT_MS = 5 * 60_000

const closes = new Map<string, { values: number[]; atMs: number }>()
let waiting: string[] = []
let running = 0

/** Raised when lines have come. */
export const linesRead = createValue(0)
const raise = oncePerFrame(() => linesRead.set(linesRead.get() + 1))

export const lineOf = (pairId: string): readonly number[] | undefined => closes.get(pairId)?.values

/** Those wanted last are read first: earlier ones may have been scrolled past. */
export function wantLines(pairIds: readonly string[]): void {
  const isOld = (pairId: string) => Date.now() - (closes.get(pairId)?.atMs ?? 0) > KEPT_MS
  waiting = pairIds.filter((pairId) => !pairId.startsWith('-') && isOld(pairId))
  while (running < AT_ONCE && waiting.length > 0) void readNext()
}

async function readNext(): Promise<void> {
  running += 1
  for (let pairId = waiting.shift(); pairId !== undefined; pairId = waiting.shift()) {
    // Also those that fail: they are asked for again later, not at once.
    closes.set(pairId, { values: closes.get(pairId)?.values ?? [], atMs: Date.now() })
    try {
      const { points } = await ask('klinesPair', { pair_id: pairId, interval: '15', limit: POINTS, fill: 'previous' })
      // A young token has few closes: its line starts where its first candle did.
      const values = [...points.slice(0, 1).map(({ open }) => open), ...points.map(({ close }) => close)].map(Number)
      closes.set(pairId, { values, atMs: Date.now() })
      raise()
    } catch {
      break
    }
  }
  running -= 1
}
