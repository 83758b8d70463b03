/** Everything dies and freezes at random under load, many times over. Afterwards it never happened. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { describeRound, partsOf, planRounds, playRound } from '../rig/cluster/chaos.js'
import { type Cluster, KEY, startCluster } from '../rig/cluster/cluster.js'
import { openedLogOf, rowCounts } from '../rig/cluster/contents.js'
import { verdictOn } from '../rig/cluster/pushes.js'
import { type ResumingClient, startResumingClient } from '../rig/cluster/resuming-client.js'
import { candleDifferences } from '../rig/cluster/stored-candles.js'
import { updateRuns } from '../rig/cluster/update-runs.js'
import { countOf, isLongRun, seedOf } from '../rig/counts.js'
import { generateRecording, type MarketOptions } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { createRandom } from '../rig/market/random.js'
import { isRetract, type RecordingLine } from '../rig/reference/lines.js'
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

const CALM: MarketOptions = {
  ...{ secondsPerBlock: 2, swapsPerBlock: 8, maxTimeBackS: 0, quietHour: 0, quietDay: 0 },
  retracts: { probability: 0.04, maxDepth: 6 },
}
const LEAST_PUSHES = 10 * ROUNDS
/** Updates between the last new token and the first cursor: a restarted node replays only what came after new facts. */
const CLEAR_OF_OPENING = 10
/** Of a token whose facts change a restarted node keeps only what came after; nothing of that kind where somebody listens. */
const LISTENED = ['eth', 'solana']
const CHAINS = [...LISTENED, 'bsc']

const nastinessOf = (chain: string) => (LISTENED.includes(chain) ? 0 : 1)
const isFact = ({ type }: { type: string }) => type === 'meta'
/** New tokens and pools are facts, too: all of them come before anybody listens. */
const isOpening = (line: RecordingLine) =>
  !isRetract(line) &&
  LISTENED.includes(line.chain) &&
  line.events.some(({ type }) => type === 'token' || type === 'pool')

function linesOf(chain: string): RecordingLine[] {
  const options = { ...CALM, nastiness: nastinessOf(chain) }
  const lines = generateRecording({ seed: SEED, chain, blocks: BLOCKS, options })
  if (!LISTENED.includes(chain)) return lines
  return lines.map((line) => (isRetract(line) ? line : { ...line, events: line.events.filter((one) => !isFact(one)) }))
}

/** Every swap, candles to the second and the minute, prices: of the busiest pairs of both chains. */
function subscriptionsOn(lines: ReadonlyMap<string, readonly RecordingLine[]>): unknown[][] {
  const busiest = LISTENED.map((chain) => ({ chain, pairs: busiestPairs(lines.get(chain) ?? []).slice(0, 4) }))
  const each = busiest.flatMap(({ chain, pairs }) => pairs.map((pair) => ({ chain, pair })))
  return [
    ...each.map(({ chain, pair }) => ['tx', pair, chain]),
    ...each.flatMap(({ chain, pair }) => ['s1', 'k1', 'k5'].map((interval) => ['kline', pair, interval, chain])),
    ...each.map(({ chain, pair }) => ['price', [`${pair}-${chain}`]]),
    // One subscription over both chains has a cursor in each.
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

const nameOf = (line: RecordingLine): string =>
  isRetract(line) ? `retract ${line.from_hash} ${line.to_hash}` : `block ${line.hash}`

const folder = mkdtempSync(join(tmpdir(), 'dx-chaos-'))
const lines = new Map(CHAINS.map((chain) => [chain, linesOf(chain)]))
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
  const opening = all.slice(0, all.findLastIndex(isOpening) + 1)
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
    const subscriptions = subscriptionsOn(lines)
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
    expect((await candleDifferences(cluster.store.url, reference)).slice(0, 20)).toEqual([])
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
