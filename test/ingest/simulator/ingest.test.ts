import { describe, expect, it } from 'vitest'
import { blocksTopic } from '../../../services/core/log/port.js'
import { type Checkpoint, memoryCheckpoints } from '../../../services/ingest/checkpoints.js'
import { openSimulator } from '../../../services/ingest/sources/simulator/simulator.js'
import { memoryLog } from '../memory-log.js'
import { ingestOf, newRig, type Rig } from '../rig.js'
import { CHAINS, HISTORY_S, memorySnapshots, RATE, START_S } from './rig.js'

const LIVE_MS = (START_S + HISTORY_S) * 1000

/** Runs ingest on the simulator until its clock reaches a time. */
async function ingestUntil(
  rig: Rig,
  snapshots: ReturnType<typeof memorySnapshots>,
  clock: { ms: number },
  endMs: number,
) {
  const stop = new AbortController()
  const source = openSimulator({
    ...{ seed: 4, swapsPerS: RATE, historyS: HISTORY_S, chains: CHAINS, snapshots, snapshotEvery: 500 },
    nowMs: () => clock.ms,
    sleep: async (ms) => {
      clock.ms += ms
      if (clock.ms >= endMs) stop.abort()
    },
  })
  const ingest = ingestOf(rig, source)
  await ingest.run(stop.signal)
  return ingest.status
}

async function values({ log }: Rig): Promise<string[][]> {
  const topics = CHAINS.map(({ chain }) => blocksTopic(chain))
  const all = await Promise.all(topics.map((topic) => log.read(topic, { from: 0 })))
  return all.map((records) => records.map(({ value }) => Buffer.from(value).toString('base64')))
}

describe('ingest of a simulated market', () => {
  it('writes the same log with and without stops, and no dead letters', async () => {
    const whole = newRig(memoryLog())
    const status = await ingestUntil(whole, memorySnapshots(), { ms: LIVE_MS }, LIVE_MS + 90_000)
    expect([status.state, status.error]).toEqual(['stopped', undefined])

    const stopped = newRig(memoryLog())
    const snapshots = memorySnapshots()
    const clock = { ms: LIVE_MS }
    for (const seconds of [0, 1, 20, 41]) await ingestUntil(stopped, snapshots, clock, LIVE_MS + seconds * 1000)
    // After a pause, it catches up with the clock.
    clock.ms = LIVE_MS + 70_000
    await ingestUntil(stopped, snapshots, clock, LIVE_MS + 90_000)
    expect(await values(stopped)).toEqual(await values(whole))
    expect((await stopped.log.topics()).map(({ topic }) => topic).sort()).toEqual(
      CHAINS.map(({ chain }) => blocksTopic(chain)).sort(),
    )
  })

  it('repeats byte for byte what a crash left in the log without a checkpoint', async () => {
    const checkpoints = memoryCheckpoints()
    const rig: Rig = { ...newRig(memoryLog()), checkpoints }
    const snapshots = memorySnapshots()
    const clock = { ms: LIVE_MS }
    await ingestUntil(rig, snapshots, clock, LIVE_MS + 10_000)
    const old = structuredClone(checkpoints.get('simulator:4')) as Checkpoint
    await ingestUntil(rig, snapshots, clock, LIVE_MS + 40_000)
    const before = await values(rig)
    await checkpoints.put('simulator:4', old)
    await ingestUntil(rig, snapshots, clock, LIVE_MS + 60_000)
    const after = await values(rig)
    expect(after.map((chain, at) => chain.slice(0, before[at]?.length))).toEqual(before)
    expect(after.map((chain) => new Set(chain).size)).toEqual(after.map((chain) => chain.length))
    expect(after.every((chain, at) => chain.length > (before[at]?.length ?? 0))).toBe(true)
  })
})
