import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { countOf, isLongRun, seedOf } from '../rig/counts.js'
import { createRandom, type Random } from '../rig/market/random.js'
import { itWhenLong } from '../rig/suite/long-only.js'
import { type Baseline, makeBaseline } from '../rig/up/baseline.js'
import { publishedRecords, readContents } from '../rig/up/contents.js'
import { contentDifferences, withoutPlaces } from '../rig/up/differences.js'
import { BUSY, play, untilSeqs } from '../rig/up/play.js'
import { startUp, type UpProcess } from '../rig/up/process.js'
import { speedFor, writeTape } from '../rig/up/recording.js'

const SEED = seedOf('crashKills')
const KILLS = countOf('crashKills')
const BLOCKS = isLongRun() ? 100 : 60
const KILLS_UNCHECKED = isLongRun() ? 2 : 1
/** Duration of the new lines of a run that is not played at full speed. */
const PLAY_S = 0.4

let base: Baseline

beforeAll(async () => {
  const options = { retracts: { probability: 0.1, maxDepth: 20 }, quietDay: 0, quietHour: 0 }
  base = await makeBaseline({ seed: SEED, chains: ['eth', 'solana'], blocksPerChain: BLOCKS, options })
})

afterAll(() => base?.remove())

/** Kills some runs during startup, some right after it, and most while they fold, store and checkpoint. */
async function killAtRandomMoment(up: UpProcess, random: Random, startMs: number): Promise<void> {
  const moment = random.next()
  if (moment < 0.15) await Promise.race([sleep(random.int(startMs / 4, startMs)), up.ended])
  else {
    if (moment < 0.4) await up.serving
    else await up.until('its first record', async () => foldedRecords(await up.metrics()) > 0)
    await sleep(random.int(0, 400))
  }
  const { signal, code, err } = await up.kill()
  // The process was killed and had not exited by itself.
  expect({ signal, err: signal === null ? `${code}: ${err}` : '' }).toEqual({ signal: 'SIGKILL', err: '' })
}

function foldedRecords(metrics: ReadonlyMap<string, number>): number {
  const counted = /^dextape_fold_(blocks|retracts|repeated)_total/
  return [...metrics].reduce((sum, [name, value]) => (counted.test(name) ? sum + value : sum), 0)
}

describe('kill -9', () => {
  it(`at ${KILLS} random moments (seed ${SEED}) with duplicate lines keeps rows, updates and seq`, async () => {
    const { lines, chains, contents, seqs } = base
    const doubled = lines.flatMap((line) => [line, line])
    const events = base.pathOf('growing.jsonl')
    const dataDir = base.pathOf('killed')
    const random = createRandom(SEED)
    const killedAt = new Set<number>()
    let [published, startMs] = [0, 1000]
    for (let kill = 0; kill < KILLS; kill += 1) {
      // The file grows with each run, so that kills are spread over all of it on any machine.
      const there = Math.ceil(((kill + 1) * doubled.length) / KILLS)
      writeTape(events, doubled.slice(0, there))
      const speed = random.chance(0.5) ? 'max' : speedFor(doubled.slice(published, there), PLAY_S)
      const started = performance.now()
      const up = startUp({ dataDir, events, speed, config: BUSY })
      up.serving.then(
        () => {
          startMs = Math.round(performance.now() - started)
        },
        () => {},
      )
      await killAtRandomMoment(up, random, startMs)
      published = await publishedRecords(dataDir)
      if (published > 0 && published < doubled.length) killedAt.add(published)
    }
    expect(killedAt.size, 'distinct positions in the recording at which it was killed').toBeGreaterThan(KILLS / 10)
    await play({ dataDir, events }, (up) => untilSeqs(up, seqs))
    const killed = await readContents(dataDir, chains)
    expect(contentDifferences(withoutPlaces(killed), withoutPlaces(contents))).toEqual([])
  }, 600_000)

  itWhenLong('before the first checkpoint, with everything published, keeps rows, updates and seq', async () => {
    const { tape, seqs } = base
    const dataDir = base.pathOf('unchecked')
    const never = 3_600_000
    const config = { ...BUSY, intervals: { flush_ms: 50, checkpoint_ms: never } }
    for (let run = 0; run < KILLS_UNCHECKED; run += 1) {
      const up = startUp({ dataDir, events: tape, speed: 'max', config })
      await untilSeqs(up, seqs)
      await up.kill()
    }
    await play({ dataDir, events: tape }, (up) => untilSeqs(up, seqs))
    expect(await base.differencesOf(dataDir)).toEqual([])
  })
})
