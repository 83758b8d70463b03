/** Everything dies and freezes at random under load, many times over. Afterwards it never happened. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { describeRound, partsOf, planRounds, playRound } from '../rig/cluster/chaos.js'
import { type Cluster, KEY, startCluster } from '../rig/cluster/cluster.js'
import { openedLogOf, rowCounts } from '../rig/cluster/contents.js'
import { listenedMarket, nameOf, openingOf, subscriptionsOn } from '../rig/cluster/listened-market.js'
import { verdictOn } from '../rig/cluster/pushes.js'
import { type ResumingClient, startResumingClient } from '../rig/cluster/resuming-client.js'
import { candleDifferences } from '../rig/cluster/stored-candles.js'
import { updateRuns } from '../rig/cluster/update-runs.js'
import { countOf, isLongRun, seedOf } from '../rig/counts.js'
import { marketMoney } from '../rig/market/money.js'
import { createRandom } from '../rig/market/random.js'
import type { RecordingLine } from '../rig/reference/lines.js'
import { recompute } from '../rig/reference/recompute.js'
import { blockNamesIn } from '../rig/up/contents.js'
import { interleave, seqsOf, writeTape } from '../rig/up/recording.js'

const SEED = seedOf('chaosRounds')
const ROUNDS = countOf('chaosRounds')
/** Five minutes of pushes are kept in chain time: at this speed more than a minute of ours. */
const SPEED = '4'
/** More than is played in all rounds, on a slow machine too. */
const BLOCKS = 30 * ROUNDS + (isLongRun() ? 600 : 400)
/** Each flush inserts into up to eight tables for each chain. */
const INTERVALS = isLongRun() ? { flush_ms: 200, checkpoint_ms: 500 } : { flush_ms: 1000, checkpoint_ms: 1000 }

const LEAST_PUSHES = 10 * ROUNDS
/** Updates between the last new token and the first cursor: a restarted node replays only what came after new facts. */
const CLEAR_OF_OPENING = 10
const LISTENED = ['eth', 'solana']
const CHAINS = [...LISTENED, 'bsc']

const marketOf = (chain: string): RecordingLine[] =>
  listenedMarket({ seed: SEED, chain, blocks: BLOCKS, isListened: LISTENED.includes(chain) })

const folder = mkdtempSync(join(tmpdir(), 'dx-chaos-'))
const lines = new Map(CHAINS.map((chain) => [chain, marketOf(chain)]))
const done: string[] = []
let cluster: Cluster
let client: ResumingClient

/** What was done and what everybody wrote, for whoever has to find out why. */
function story(): string {
  const rounds = done.map((what, at) => `round ${at + 1}: ${what}`).join('\n')
  return `DEXTAPE_TEST_SEED=${SEED}, ${done.length} of ${ROUNDS} rounds\n${rounds}\n${cluster.tails()}`
}

async function telling<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${story()}`, { cause: error })
  }
}

/** However slow the machine is: failures meet a pipe that moves, and it moves on after them. */
function untilTold(pushes: number): Promise<void> {
  const told = () =>
    client.told.flatMap(({ cursors }) => [...cursors.values()]).reduce((sum, { length }) => sum + length, 0)
  return cluster.serve.until(`${pushes} pushes`, async () => told() >= pushes)
}

async function playRounds(): Promise<void> {
  const parts = partsOf(cluster)
  for (const round of planRounds(createRandom(SEED), ROUNDS, [...parts.keys()])) {
    done.push(describeRound(round))
    await playRound(parts, round)
    const fallen = cluster.services.flatMap((service) => service.fallen() ?? [])
    if (fallen.length > 0) throw new Error(fallen.join('; '))
  }
}

beforeAll(async () => {
  console.info(`chaos: DEXTAPE_TEST_SEED=${SEED}`)
  const all = interleave([...lines.values()])
  const opening = openingOf(all, LISTENED)
  const openingTape = writeTape(join(folder, 'opening.jsonl'), opening)
  const tape = writeTape(join(folder, 'tape.jsonl'), all)
  const settings = { intervals: INTERVALS, retention: { updates_h: 1_000_000 } }
  const chains = CHAINS.map(marketMoney)
  cluster = await startCluster({
    ingest: ['--events', openingTape, '--speed', 'max'],
    aggregates: 2,
    chains,
    settings,
  })
  await telling(async () => {
    const { ingest, serve, wsUrl } = cluster
    await cluster.untilSeqs(seqsOf(opening))
    await ingest.restart(['--events', tape, '--speed', SPEED])
    await serve.until('blocks behind the opening', async () => {
      const { chains } = await cluster.status()
      return [...seqsOf(opening)].every(([name, last]) =>
        chains.some(({ chain, seq }) => chain === name && seq > last + CLEAR_OF_OPENING),
      )
    })
    const subscriptions = subscriptionsOn(lines, LISTENED)
    client = startResumingClient({ url: wsUrl, key: KEY, subscriptions })
    await client.listening
    await untilTold(1)
    await playRounds()
    await untilTold(LEAST_PUSHES)
    await cluster.ingest.until('ready', cluster.ingest.isReady)
    expect(await cluster.ingest.stop(), 'the exit code of ingest').toBe(0)
    const published = new Map<string, number>()
    for (const chain of CHAINS) published.set(chain, (await blockNamesIn(openedLogOf(cluster), chain)).length)
    await cluster.untilSeqs(published)
  })
}, 900_000)

afterAll(async () => {
  await client?.close()
  await cluster?.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe(`after ${ROUNDS} rounds of failures (seed ${SEED})`, () => {
  it.each(CHAINS)('the blocks of %s are the recording’s, each once', async (chain) => {
    const published = await blockNamesIn(openedLogOf(cluster), chain)
    const expected = (lines.get(chain) ?? []).slice(0, published.length).map(nameOf)
    expect(published.length).toBeLessThan(lines.get(chain)?.length ?? 0)
    expect(published).toEqual(expected)
  })

  it.each(CHAINS)('no seq of %s is skipped, and none has two contents', (chain) =>
    telling(async () => {
      const { repeated, lastSeq, ...runs } = await updateRuns(openedLogOf(cluster), chain)
      console.info(`${chain}: ${lastSeq} updates, ${repeated} of them in the log again`)
      expect(runs).toEqual({ epochs: [1], skipped: [], reused: [] })
    }),
  )

  it('every table has each row once', async () => {
    const counts = await rowCounts(cluster)
    console.info(counts.map(({ table, rows, unique }) => `${table} ${rows}/${unique}`).join(', '))
    expect(counts.filter(({ rows, unique }) => rows === 0 || rows !== unique)).toEqual([])
  })

  it('verify finds everything stored to be what the log gives', () =>
    telling(async () => {
      const { code, out, err } = await cluster.run('verify')
      expect({ code, out, err: code === 0 ? '' : err }).toMatchObject({ code: 0, err: '' })
    }))

  it.each(CHAINS)('every candle of %s is what the reference computes', async (chain) => {
    const published = await blockNamesIn(openedLogOf(cluster), chain)
    const reference = recompute((lines.get(chain) ?? []).slice(0, published.length), marketMoney(chain))
    expect(reference.candles.size).toBeGreaterThan(100)
    expect((await candleDifferences({ kind: 'server', url: cluster.store.url }, reference)).slice(0, 20)).toEqual([])
  })

  it('the client was told everything once', () =>
    telling(async () => {
      const { told, notices } = client
      const verdictNow = () => verdictOn(openedLogOf(cluster), LISTENED, told)
      await vi
        .waitUntil(async () => (await verdictNow()).lost === 0, { timeout: 20_000, interval: 500 })
        .catch(() => {})
      const { pushes, due: _due, ...verdict } = await verdictNow()
      console.info(`${pushes} pushes over ${client.connections()} connections`)
      expect(pushes).toBeGreaterThanOrEqual(LEAST_PUSHES)
      expect({ ...verdict, notices: notices.slice(0, 5) }).toEqual({
        ...{ lost: 0, twice: 0, disordered: 0, undue: 0, examples: [], notices: [] },
      })
    }))
})
