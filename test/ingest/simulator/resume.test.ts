import { beforeAll, describe, expect, it } from 'vitest'
import { type Given, HISTORY_S, memorySnapshots, played, RATE, runSimulator, START_S } from './rig.js'

const RECORDS = 1500
const textOf = (given: readonly Given[]): string[] => given.map(({ record }) => JSON.stringify(record))

let whole: Given[]
let texts: string[]
const snapshots = memorySnapshots()

beforeAll(async () => {
  whole = await runSimulator({ records: RECORDS, snapshots })
  texts = textOf(whole)
})

/** The rest of the same run from a record on, with the given snapshots. */
async function restAfter(at: number, saved: string | undefined): Promise<string[]> {
  const from = structuredClone(whole[at - 1]?.position())
  if (from === undefined) throw new Error(`there is no record ${at}`)
  const records = Math.min(200, RECORDS - at)
  const clock = { ms: (START_S + HISTORY_S) * 1000 }
  return textOf(await runSimulator({ from, records, snapshots: memorySnapshots(saved), clock }))
}

const expected = (at: number): string[] => texts.slice(at, at + Math.min(200, RECORDS - at))

describe('the same seed', () => {
  it('gives the same blocks, and another seed gives others', () => {
    const plan = { historyS: 120, liveS: 60 }
    expect(JSON.stringify(played(plan))).toBe(JSON.stringify(played(plan)))
    const hashes = (seed: number) =>
      new Set(played({ ...plan, seed }).flatMap((r) => (r.kind === 'block' ? r.block.hash : [])))
    const [one, two] = [hashes(1), hashes(2)]
    expect([...one].filter((hash) => two.has(hash))).toEqual([])
  })

  it('gives the same blocks through the source as from the markets', () => {
    expect(texts.slice(0, 500)).toEqual(
      played({ historyS: HISTORY_S })
        .slice(0, 500)
        .map((record) => JSON.stringify(record)),
    )
  })
})

describe('a resumed simulator', () => {
  it('resumes with the same blocks from any position', async () => {
    for (const at of [1, 2, 77, 400, 800, 1201, 1499])
      expect(await restAfter(at, snapshots.saved.at(-1))).toEqual(expected(at))
  })

  it('resumes with any snapshots a crash left: older, newer, none, broken', async () => {
    expect(snapshots.saved.length).toBeGreaterThan(5)
    const at = 700
    const some = snapshots.saved.filter((_, n) => n % 3 === 0)
    for (const saved of [...some, undefined, '{', '{"origin":null}'])
      expect(await restAfter(at, saved)).toEqual(expected(at))
  })

  it('deletes an older snapshot only after a position past the newer one is stored', async () => {
    const stored: number[] = [0]
    const watched = memorySnapshots()
    const { save } = watched
    watched.save = async (text) => {
      const { kept } = JSON.parse(text) as { kept: { step: number }[] }
      // The last requested position may not be stored yet.
      if (kept.length > 1) expect(kept[0]?.step).toBeLessThanOrEqual(stored.at(-2) ?? 0)
      await save(text)
    }
    await runSimulator({ records: 900, snapshots: watched, storeEvery: 70, onStored: ({ step }) => stored.push(step) })
    expect(watched.saved.length).toBeGreaterThan(4)
    const never = memorySnapshots()
    await runSimulator({ records: 900, snapshots: never, storeEvery: 10_000 })
    expect(never.saved.map((text) => (JSON.parse(text) as { kept: unknown[] }).kept.length)).toEqual([0, 1])
  })

  it('starts at the same time again if it crashed before a position was stored', async () => {
    const sharedSnapshots = memorySnapshots()
    const first = textOf(await runSimulator({ records: 20, snapshots: sharedSnapshots, storeEvery: 10_000 }))
    const clock = { ms: (START_S + HISTORY_S + 500) * 1000 }
    expect(textOf(await runSimulator({ records: 20, snapshots: sharedSnapshots, clock }))).toEqual(first)
  })

  it('applies a new rate from the next block on, also after another stop', async () => {
    const at = 900
    const from = structuredClone(whole[at - 1]?.position())
    if (from === undefined) throw new Error('too few records')
    const faster = await runSimulator({ from, records: 300, swapsPerS: RATE * 4, snapshots: memorySnapshots() })
    expect(textOf(faster)[0]).not.toBe(texts[at])
    const later = structuredClone(faster[99]?.position())
    if (later === undefined) throw new Error('too few records')
    expect(later.rates).toEqual([
      [0, RATE],
      [from.step, RATE * 4],
    ])
    const rest = await runSimulator({ from: later, records: 200, swapsPerS: RATE * 4, snapshots: memorySnapshots() })
    expect(textOf(rest)).toEqual(textOf(faster).slice(100))
  })
})

describe('the clock', () => {
  it('is awaited after the history, and earlier records are flushed first', async () => {
    const progress: number[] = []
    const clock = { ms: (START_S + HISTORY_S) * 1000 }
    const given = await runSimulator({ records: RECORDS, clock, onHistory: (done) => progress.push(done) })
    expect(progress[0]).toBe(0)
    expect(progress.at(-1)).toBe(1)
    expect(progress.toSorted((a, b) => a - b)).toEqual(progress)
    const last = given.at(-1)?.record
    expect(last?.kind === 'block' && Math.abs(last.block.time * 1000 - clock.ms)).toBeLessThanOrEqual(1000)
  })

  it('gives compact positions', () => {
    expect(JSON.stringify(whole.at(-1)?.position()).length).toBeLessThan(200)
  })
})
