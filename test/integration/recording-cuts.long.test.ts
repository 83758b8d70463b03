/** The same market cut at many places: windows, prices and main pairs are right at each cut. */
import { appendFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countOf, isLongRun } from '../rig/counts.js'
import { type Played, pairDifferences, playedBy, tokenDifferences } from '../rig/http/against-reference.js'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { interleave, onChain, textOf, writeRecording } from '../rig/http/recording-file.js'
import { startUp, type Up } from '../rig/http/up.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { isRetract, type RecordingLine } from '../rig/reference/lines.js'

const MARKET = {
  ...{ seed: 301, chain: 'cut', blocks: 160 },
  options: { secondsPerBlock: 45, quietHour: 0.03, quietDay: 0.01, retracts: { probability: 0.07, maxDepth: 5 } },
}
const lines = generateRecording(MARKET)

type Place = { name: string; at: (line: RecordingLine, before: { now: number; time: number }) => boolean }

const behind = (line: RecordingLine, now: number): number => (isRetract(line) ? Number.NaN : line.time - now)
const isEmpty = (line: RecordingLine): boolean => !isRetract(line) && line.events.length === 0

/** Kinds of the last line of a cut: "now" moves by seconds, minutes or hours, backwards, or not at all. */
const PLACES: Place[] = [
  { name: 'a retract', at: isRetract },
  { name: 'a block with trades at the time of the one before', at: (line, { time }) => behind(line, time) === 0 },
  { name: 'a block over a minute later', at: (line, { now }) => behind(line, now) > 60 && behind(line, now) < 300 },
  { name: 'a block after a quiet hour', at: (line, { now }) => behind(line, now) > 3600 && behind(line, now) < 86_400 },
  { name: 'a block after a quiet day', at: (line, { now }) => behind(line, now) > 86_400 },
  { name: 'a block behind now', at: (line, { now }) => behind(line, now) < 0 },
  { name: 'a block without events', at: isEmpty },
]

/** Line counts to play: for each kind the first one after the opening and, in long runs, the last. */
function cuts(): { name: string; count: number }[] {
  const found = new Map<string, number[]>()
  let [now, time] = [0, 0]
  for (const [at, line] of lines.entries()) {
    for (const place of PLACES) {
      if (at >= 40 && place.at(line, { now, time })) found.set(place.name, [...(found.get(place.name) ?? []), at + 1])
    }
    if (isRetract(line)) continue
    time = line.time
    now = Math.max(now, time)
  }
  return [...found].flatMap(([name, counts]) =>
    [...new Set([counts[0] ?? 0, counts.at(-1) ?? 0].slice(0, countOf('cutsPerKind')))].map((count) => ({
      name,
      count,
    })),
  )
}

const CUTS = cuts().map((cut, at) => ({ ...cut, chain: `cut${at}` }))
const factsOf = (chain: string) => ({ ...marketMoney(MARKET.chain), chain })

afterAll(removeScratchFolders)

test('covers every kind of cut', () => {
  expect(new Set(CUTS.map(({ name }) => name))).toEqual(new Set(PLACES.map(({ name }) => name)))
})

describe('each cut as a separate chain, in one process', () => {
  let up: Up
  const played = new Map<string, Played>()

  beforeAll(async () => {
    for (const { chain, count } of CUTS) {
      played.set(chain, playedBy(onChain(lines.slice(0, count), chain), factsOf(chain)))
    }
    const folder = scratchFolder()
    const events = writeRecording(folder, 'cuts.jsonl', interleave([...played.values()].map((own) => own.lines)))
    up = await startUp({ folder, events, chains: CUTS.map(({ chain }) => factsOf(chain)) })
    for (const { chain, count } of CUTS) await up.applied(chain, count)
  })

  afterAll(() => up.stop())

  test.each(CUTS)('matches the reference after $count lines, the last $name', async ({ chain }) => {
    expect(await pairDifferences(up, played.get(chain) as Played)).toEqual([])
    expect(await tokenDifferences(up, played.get(chain) as Played)).toEqual([])
  })
})

// In every run replay-runs.long.test.ts plays a file that grows.
if (isLongRun())
  test('resumes a file that grows between starts on the same data directory', async () => {
    const folder = scratchFolder()
    const facts = factsOf('grown')
    const events = writeRecording(folder, 'grown.jsonl', [])
    const counts = [...new Set(CUTS.map(({ count }) => count))].sort((a, b) => a - b).filter((_, at) => at % 5 === 3)
    let before = 0
    for (const count of new Set([...counts, lines.length])) {
      appendFileSync(events, textOf(onChain(lines.slice(before, count), 'grown')))
      before = count
      const up = await startUp({ folder, events, chains: [facts] })
      await up.stored('grown', count)
      const played = playedBy(onChain(lines.slice(0, count), 'grown'), facts)
      expect(await pairDifferences(up, played)).toEqual([])
      expect(await tokenDifferences(up, played)).toEqual([])
      await up.stop()
      // Without new lines, everything comes from the checkpoint and the store.
      const again = await startUp({ folder, events, chains: [facts] })
      await again.applied('grown', count)
      expect(await pairDifferences(again, played)).toEqual([])
      expect(await tokenDifferences(again, played)).toEqual([])
      await again.stop()
    }
  })
