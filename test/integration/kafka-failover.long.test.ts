/** Two aggregators: what one leaves behind goes on in the other, and a frozen one that wakes up disturbs nobody. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../rig/cluster/cluster.js'
import { openedLogOf } from '../rig/cluster/contents.js'
import { chainsOf, checkpointClaims, untilNextUpdates } from '../rig/cluster/owners.js'
import type { Service } from '../rig/cluster/service.js'
import { updateRuns } from '../rig/cluster/update-runs.js'
import { isLongRun } from '../rig/counts.js'
import { blockNamesIn } from '../rig/up/contents.js'
import { generateTape, writeTape } from '../rig/up/recording.js'

const CHAINS = ['base', 'bsc', 'eth', 'solana']
/** The promise: six seconds until a member is missed, and the rest to take over what it had. */
const PROMISED_MS = 10_000
/** A busy machine decides nothing: the promise is checked by long runs. */
const WITHIN_MS = isLongRun() ? PROMISED_MS : 12 * PROMISED_MS

/** Four blocks a second of each chain in a long run, two else. */
const LOAD = isLongRun() ? { speed: '8', blocks: 900, flushMs: 200 } : { speed: '4', blocks: 600, flushMs: 1000 }

const folder = mkdtempSync(join(tmpdir(), 'dx-failover-'))
let cluster: Cluster
let one: Service
let other: Service

beforeAll(async () => {
  const options = {
    ...{ secondsPerBlock: 2, quietHour: 0, quietDay: 0, maxTimeBackS: 20 },
    retracts: { probability: 0.05, maxDepth: 6 },
  }
  const lines = generateTape({ seed: 71, chains: CHAINS, blocksPerChain: LOAD.blocks, options })
  const tape = writeTape(join(folder, 'tape.jsonl'), lines)
  cluster = await startCluster({
    ...{ ingest: ['--events', tape, '--speed', LOAD.speed], aggregates: 2 },
    settings: { intervals: { flush_ms: LOAD.flushMs, checkpoint_ms: 500 }, retention: { updates_h: 1_000_000 } },
  })
  const [first, second] = cluster.aggregates
  if (first === undefined || second === undefined) throw new Error('two aggregators are needed')
  one = first
  other = second
}, 300_000)

afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.error(cluster.tails(80))
})

afterAll(async () => {
  await cluster?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Both fold, and together everything. */
async function untilShared(): Promise<void> {
  await one.until('an equal share each', async () => {
    const [mine, theirs] = await Promise.all([chainsOf(one), chainsOf(other)])
    return mine.length === 2 && theirs.length === 2 && [...mine, ...theirs].sort().join() === CHAINS.join()
  })
}

function expectInTime(waited: ReadonlyMap<string, number>, what: string): void {
  console.info(`${what}: ${[...waited].map(([chain, ms]) => `${chain} ${ms} ms`).join(', ')}`)
  expect([...waited].filter(([, ms]) => ms >= WITHIN_MS)).toEqual([])
}

const saidBy = (service: Service, pattern: RegExp, from: number) =>
  service
    .logged()
    .slice(from)
    .filter(({ message }) => pattern.test(message))

describe('two aggregators', () => {
  it('share the chains', untilShared)

  it('killed: its chains go on in the other in time', async () => {
    const chains = await chainsOf(one)
    await one.kill()
    expectInTime(await untilNextUpdates(cluster, chains, WITHIN_MS + PROMISED_MS), 'after kill -9')
    await other.until('all chains', async () => (await chainsOf(other)).join() === CHAINS.join())
  })

  it('started again: it takes its share', async () => {
    await one.restart()
    await untilShared()
  })

  it('frozen: its chains go on in the other in time; awake again, it is refused, says so and lives on', async () => {
    const chains = await chainsOf(one)
    const saidBefore = one.logged().length
    await one.pause()
    expectInTime(await untilNextUpdates(cluster, chains, WITHIN_MS + PROMISED_MS), 'after SIGSTOP')
    await one.resume()
    await one.until('its log says that it lost its chains', async () => {
      const lost = saidBy(one, /no longer assigned to this process|another process took over this chain/, saidBefore)
      return chains.every((name) => lost.some(({ chain }) => chain === name))
    })
    await untilShared()
    expect(one.fallen()).toBeUndefined()
  })

  it('wrote no checkpoint of a chain that another had claimed since', async () => {
    for (const chain of CHAINS) {
      const claims = await checkpointClaims(cluster, chain)
      expect(claims.length).toBeGreaterThan(0)
      expect(claims).toEqual([...claims].sort((a, b) => a - b))
    }
  })

  it('left in order: the once frozen one takes everything at once', async () => {
    const chains = await chainsOf(other)
    expect(await other.stop()).toBe(0)
    expectInTime(await untilNextUpdates(cluster, chains, WITHIN_MS + PROMISED_MS), 'after SIGTERM')
    await one.until('all chains', async () => (await chainsOf(one)).join() === CHAINS.join())
  })

  it('leaves no trace: every seq once in order, everything stored what the log gives', async () => {
    expect(await cluster.ingest.stop()).toBe(0)
    const opened = openedLogOf(cluster)
    const published = new Map<string, number>()
    for (const chain of CHAINS) published.set(chain, (await blockNamesIn(opened, chain)).length)
    await cluster.untilSeqs(published)
    for (const chain of CHAINS) {
      const { repeated, lastSeq, ...runs } = await updateRuns(opened, chain)
      console.info(`${chain}: ${lastSeq} updates, ${repeated} of them in the log again`)
      expect(runs).toEqual({ epochs: [1], skipped: [], reused: [] })
    }
    const { code, out } = await cluster.run('verify')
    expect({ code, out }).toMatchObject({ code: 0 })
  })
})
