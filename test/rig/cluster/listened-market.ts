/**
 * A market for clients that must get every push. Of a token whose facts change a restarted node keeps only what came after, so
 * nothing of that kind happens where somebody listens, and new tokens and pools come before.
 */
import { generateRecording, type MarketOptions } from '../market/generate.js'
import { isRetract, type RecordingLine } from '../reference/lines.js'

export type ListenedPlan = {
  seed: number
  chain: string
  blocks: number
  isListened: boolean
  options?: MarketOptions
}

const CALM: MarketOptions = {
  ...{ secondsPerBlock: 2, swapsPerBlock: 8, maxTimeBackS: 0, quietHour: 0, quietDay: 0 },
  retracts: { probability: 0.04, maxDepth: 6 },
}

export function listenedMarket({ seed, chain, blocks, isListened, options }: ListenedPlan): RecordingLine[] {
  const plan = { ...CALM, nastiness: isListened ? 0 : 1, ...options }
  const lines = generateRecording({ seed, chain, blocks, options: plan })
  if (!isListened) return lines
  return lines.map((line) =>
    isRetract(line) ? line : { ...line, events: line.events.filter(({ type }) => type !== 'meta') },
  )
}

/** Up to the last new token or pool of the chains that somebody listens to. */
export function openingOf(lines: readonly RecordingLine[], listened: readonly string[]): RecordingLine[] {
  const isOpening = (line: RecordingLine) =>
    !isRetract(line) &&
    listened.includes(line.chain) &&
    line.events.some(({ type }) => type === 'token' || type === 'pool')
  return lines.slice(0, lines.findLastIndex(isOpening) + 1)
}

/** Every swap, candles to the second and the minute, prices: of the busiest pairs of each chain. */
export function subscriptionsOn(
  lines: ReadonlyMap<string, readonly RecordingLine[]>,
  listened: readonly string[],
): unknown[][] {
  const busiest = listened.map((chain) => ({ chain, pairs: busiestPairs(lines.get(chain) ?? []).slice(0, 4) }))
  const each = busiest.flatMap(({ chain, pairs }) => pairs.map((pair) => ({ chain, pair })))
  return [
    ...each.map(({ chain, pair }) => ['tx', pair, chain]),
    ...each.flatMap(({ chain, pair }) => ['s1', 'k1', 'k5'].map((interval) => ['kline', pair, interval, chain])),
    ...each.map(({ chain, pair }) => ['price', [`${pair}-${chain}`]]),
    // One subscription over all chains has a cursor in each.
    ['price', each.map(({ chain, pair }) => `${pair}-${chain}`)],
  ]
}

function busiestPairs(lines: readonly RecordingLine[]): string[] {
  const swaps = new Map<string, number>()
  for (const line of lines) {
    if (isRetract(line)) continue
    for (const event of line.events) if (event.type === 'swap') swaps.set(event.pool, (swaps.get(event.pool) ?? 0) + 1)
  }
  return [...swaps].sort(([, a], [, b]) => b - a).map(([pair]) => pair)
}

/** As `blockNamesIn` gives those of a log. */
export const nameOf = (line: RecordingLine): string =>
  isRetract(line) ? `retract ${line.from_hash} ${line.to_hash}` : `block ${line.hash}`
