import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { countOf, seedOf } from '../rig/counts.js'
import { createRandom } from '../rig/market/random.js'
import { type Baseline, makeBaseline } from '../rig/up/baseline.js'
import { publishedRecords, readContents } from '../rig/up/contents.js'
import { contentDifferences, withoutPlaces } from '../rig/up/differences.js'
import { BUSY, play, stoppedCleanly, untilRead, untilSeqs } from '../rig/up/play.js'
import { startUp } from '../rig/up/process.js'
import { seqsOf, speedFor, writeTape } from '../rig/up/recording.js'

const SEED = seedOf('replayStops')
const STOPS = countOf('replayStops')
const BLOCKS = 80
/** A copy that is not recognised is played again in every run. */
const RENAMED_RUNS = 2

let base: Baseline

beforeAll(async () => {
  const options = { retracts: { probability: 0.1, maxDepth: 20 }, quietDay: 0 }
  base = await makeBaseline({ seed: SEED, chains: ['eth', 'solana'], blocksPerChain: BLOCKS, options })
})

afterAll(() => base?.remove())

describe('one run over a recording', () => {
  it('writes rows to every table and one update per line, with seq from 1', () => {
    const empty = Object.entries(base.contents.rows).filter(([, rows]) => rows.size === 0)
    expect(empty).toEqual([])
    for (const [chain, last] of base.seqs) {
      const expected = Array.from({ length: last }, (_, at) => `1:${at + 1}`)
      expect(base.contents.updates.get(chain)?.map(({ epoch, seq }) => `${epoch}:${seq}`)).toEqual(expected)
    }
  })
})

describe('rows, updates and seq are the same', () => {
  it(`after SIGTERM at random moments (seed ${SEED}), each exit within 5 s`, async () => {
    const { lines, tape, seqs } = base
    const dataDir = base.pathOf('stopped')
    const random = createRandom(SEED)
    const stoppedAt = new Set<number>()
    let published = 0
    for (let run = 0; run < STOPS; run += 1) {
      // Lasts far longer than until the stop, however slow the machine is.
      const speed = speedFor(lines.slice(published), (STOPS - run) * 4)
      const up = startUp({ dataDir, events: tape, speed, config: BUSY })
      await up.serving
      await sleep(random.int(200, 900))
      stoppedCleanly(await up.stop())
      published = await publishedRecords(dataDir)
      if (published > 0 && published < lines.length) stoppedAt.add(published)
    }
    expect(stoppedAt.size, 'stops inside the recording').toBeGreaterThan(STOPS / 4)
    await play({ dataDir, events: tape }, (up) => untilSeqs(up, seqs))
    expect(await base.differencesOf(dataDir)).toEqual([])
  })

  it('when the recording is split into several files', async () => {
    const { lines } = base
    const dataDir = base.pathOf('files')
    const cuts = [0, 70, lines.length]
    for (const [at, to] of cuts.slice(1).entries()) {
      const events = writeTape(base.pathOf(`part-${at}.jsonl`), lines.slice(cuts[at], to))
      await play({ dataDir, events }, (up) => untilSeqs(up, seqsOf(lines.slice(0, to))))
    }
    expect(await base.differencesOf(dataDir)).toEqual([])
  })

  it('when the file grows and is renamed, is played again, and then as an unrecognized copy', async () => {
    const { lines, seqs } = base
    const dataDir = base.pathOf('grown')
    const events = writeTape(base.pathOf('growing.jsonl'), lines.slice(0, 100))
    await play({ dataDir, events }, (up) => untilSeqs(up, seqsOf(lines.slice(0, 100))))
    const renamed = base.pathOf('renamed.jsonl')
    renameSync(writeTape(events, lines), renamed)
    for (let run = 0; run < RENAMED_RUNS; run += 1) {
      await play({ dataDir, events: renamed }, (up) => untilSeqs(up, seqs))
      expect(await base.differencesOf(dataDir)).toEqual([])
    }
    const copy = writeTape(base.pathOf('copy.jsonl'), lines)
    // A recording is recognized by its first line, and a blank line is not a record.
    writeFileSync(copy, `\n${readFileSync(copy, 'utf8')}`)
    await play({ dataDir, events: copy }, (up) => untilRead(up, seqs))
    expect(await base.differencesOf(dataDir)).toEqual([])
  })

  it('when every line is delivered twice', async () => {
    const { lines, chains, contents } = base
    const dataDir = base.pathOf('twice')
    const doubled = lines.flatMap((line) => [line, line])
    const events = writeTape(base.pathOf('twice.jsonl.gz'), doubled)
    await play({ dataDir, events }, (up) => untilRead(up, seqsOf(doubled)))
    const twice = await readContents(dataDir, chains)
    expect(contentDifferences(withoutPlaces(twice), withoutPlaces(contents))).toEqual([])
  })
})
