/**
 * Three brokers with SASL_SSL, two aggregators and two serve nodes of the previous release under load. All are replaced in turn by
 * this version, then one of each is killed. Afterwards nothing is lost and nothing doubled.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KafkaConfig } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { updatesTopic } from '../../services/core/log/port.js'
import { readClientTls } from '../../services/core/runtime/client-tls.js'
import { type BrokersInUse, type Cluster, KEY, startCluster } from '../rig/cluster/cluster.js'
import { openedLogOf, rowCounts } from '../rig/cluster/contents.js'
import { listenedMarket, nameOf, openingOf, subscriptionsOn } from '../rig/cluster/listened-market.js'
import { chainsOf } from '../rig/cluster/owners.js'
import { verdictOn } from '../rig/cluster/pushes.js'
import { type ResumingClient, startResumingClient } from '../rig/cluster/resuming-client.js'
import type { Service } from '../rig/cluster/service.js'
import { watchSilences } from '../rig/cluster/silences.js'
import { candleDifferences } from '../rig/cluster/stored-candles.js'
import { updateRuns } from '../rig/cluster/update-runs.js'
import { DEXTAPE } from '../rig/http/command.js'
import type { Broker } from '../rig/kafka/broker.js'
import { copiesOf } from '../rig/kafka/replicas.js'
import { AUTHORITY, startSecureBrokers, USER } from '../rig/kafka/secure-broker.js'
import { marketMoney } from '../rig/market/money.js'
import { isRetract, type RecordingLine } from '../rig/reference/lines.js'
import { recompute } from '../rig/reference/recompute.js'
import { previousRelease } from '../rig/release/previous-release.js'
import { blockNamesIn } from '../rig/up/contents.js'
import { interleave, seqsOf, writeTape } from '../rig/up/recording.js'

const CHAINS = ['bsc', 'eth', 'solana']
const SEED = 91
/** Together 1,000 swaps a second: three chains, a block each 0.4 s. Five minutes of pushes are kept in chain time, so 67 s. */
const FULL_SPEED = 4.5
const FULL_SWAPS_PER_S = 1000
const options = { swapsPerBlock: 100 }
const BLOCKS = 1600
/** Lines of the recording that are played at once, to see how many swaps this machine holds. */
const TRIED_LINES = 500
/** Of what it held: upgrades and their catching up take the rest. */
const SHARE = 0.65
/** Between two failures, so that each is measured apart. */
const QUIET_MS = 5_000
const CLEAR_OF_OPENING = 10
const FLOWING_PUSHES = 50
const SILENT_MS = 60_000
const LONGEST_MS = 120_000

const sasl = { mechanism: 'scram-sha-512', ...USER } as const
const folder = mkdtempSync(join(tmpdir(), 'dx-three-'))
const lines = new Map(
  CHAINS.map((chain) => [chain, listenedMarket({ seed: SEED, chain, blocks: BLOCKS, isListened: true, options })]),
)
const previous = previousRelease('same rules')
/** Each client notices each chain. */
const silences = watchSilences([0, 1].flatMap((client) => CHAINS.map((chain) => `${client} ${chain}`)))
const timed: string[] = []
let brokers: readonly Broker[] = []
let cluster: Cluster
let clients: ResumingClient[] = []
let pushes = 0

const together = (): BrokersInUse => ({
  brokers: brokers.map((one) => one.brokers).join(),
  settings: { ssl: { ca: AUTHORITY }, sasl },
  options: { ssl: readClientTls({ ca: AUTHORITY }), sasl },
})

const access = (): Pick<KafkaConfig, 'brokers' | 'ssl' | 'sasl'> => ({
  ...{ brokers: brokers.map((one) => one.brokers), ssl: readClientTls({ ca: AUTHORITY }), sasl },
})

async function telling<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${timed.join('\n')}\n${cluster?.tails(60)}`, { cause: error })
  }
}

const until = (what: string, check: () => Promise<boolean> | boolean) =>
  cluster.serve.until(what, async () => check(), LONGEST_MS)

/** Does it while clients listen, and writes down the longest time without a push of a chain. */
async function measure(what: string, work: () => Promise<unknown>): Promise<void> {
  await sleep(QUIET_MS)
  const before = pushes
  silences.reset()
  await work()
  await sleep(QUIET_MS)
  await until(`pushes after ${what}`, () => pushes > before + FLOWING_PUSHES)
  const silent = silences.longest()
  const longest = CHAINS.map((chain) => {
    return [chain, Math.max(...[0, 1].map((client) => silent.get(`${client} ${chain}`) ?? 0))] as const
  })
  timed.push(`${what}: ${longest.map(([chain, ms]) => `${chain} ${(ms / 1000).toFixed(1)} s`).join(', ')}`)
  console.info(timed.at(-1))
  const fallen = cluster.services.flatMap((service) => service.fallen() ?? [])
  expect(fallen).toEqual([])
  expect(longest.filter(([, ms]) => ms > SILENT_MS)).toEqual([])
}

const isInSync = async () => (await copiesOf(access())).every(({ replicas, inSync }) => replicas === 3 && inSync === 3)

/** Of the broker that leads the updates of a chain: its failure is felt. */
async function leaderOfUpdates(): Promise<Broker> {
  const all = await copiesOf(access())
  const leader = brokers[(all.find(({ topic }) => topic === updatesTopic('eth'))?.leader ?? 0) - 1]
  if (leader === undefined) throw new Error(`no leader of ${updatesTopic('eth')}`)
  return leader
}

async function stopInOrder(broker: Broker): Promise<void> {
  const { pid } = broker
  process.kill(pid, 'SIGTERM')
  await vi.waitUntil(() => !isAlive(pid), { timeout: LONGEST_MS, interval: 50 })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const untilReady = (service: Service) => service.until('ready', service.isReady, LONGEST_MS)

async function untilShared(): Promise<void> {
  await until('chains of both aggregators', async () => {
    const owned = await Promise.all(cluster.aggregates.map(chainsOf))
    return owned.every(({ length }) => length > 0) && owned.flat().sort().join() === CHAINS.join()
  })
}

beforeAll(async () => {
  console.info(`three brokers: the previous release is ${previous.name}`)
  brokers = await startSecureBrokers()
  const all = interleave([...lines.values()])
  const opening = openingOf(all, CHAINS)
  const openingTape = writeTape(join(folder, 'opening.jsonl'), opening)
  const tape = writeTape(join(folder, 'tape.jsonl'), all)
  cluster = await startCluster({
    ...{ ingest: ['--events', openingTape, '--speed', 'max'], aggregates: 2, serves: 2, broker: together() },
    ...{ chains: CHAINS.map(marketMoney), program: previous.program },
    settings: { intervals: { flush_ms: 1000, checkpoint_ms: 1000 }, retention: { updates_h: 1_000_000 } },
  })
  await telling(async () => {
    await cluster.untilSeqs(seqsOf(opening))
    const speed = await speedHeld(all.slice(0, opening.length + TRIED_LINES), opening.length)
    await cluster.ingest.restart(['--events', tape, '--speed', speed])
    await until('blocks behind the opening', async () => {
      const { chains } = await cluster.status()
      return [...seqsOf(all.slice(0, opening.length + TRIED_LINES))].every(([name, last]) =>
        chains.some(({ chain, seq }) => chain === name && seq > last + CLEAR_OF_OPENING),
      )
    })
    const subscriptions = subscriptionsOn(lines, CHAINS)
    const [first = '', second = ''] = cluster.wsUrls
    clients = [
      [first, second],
      [second, first],
    ].map((url, at) =>
      startResumingClient({
        ...{ url, key: KEY, subscriptions },
        onPush: (chain) => {
          pushes += 1
          silences.note(`${at} ${chain}`)
        },
      }),
    )
    await Promise.all(clients.map(({ listening }) => listening))
    await until('a push', () => pushes > FLOWING_PUSHES)
  })
}, 600_000)

afterAll(async () => {
  for (const client of clients) await client.close()
  await cluster?.stop()
  for (const broker of brokers) await broker.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe(`three brokers, two aggregators, two serve nodes (from ${previous.name})`, () => {
  it('have three copies of every topic, two of which must have a record', async () => {
    const copies = await copiesOf(access())
    expect(copies.map(({ topic }) => topic)).toContain(updatesTopic('eth'))
    expect(copies.filter(({ replicas }) => replicas !== 3)).toEqual([])
  })

  it('continue when all are replaced in turn', { timeout: 900_000 }, () =>
    telling(async () => {
      const started = { atMs: performance.now(), swaps: await publishedSwaps() }
      await measure('undisturbed', () => sleep(QUIET_MS))
      for (const service of [...cluster.serves, ...cluster.aggregates, cluster.ingest])
        await measure(`${service.name} upgraded`, async () => {
          expect(await service.replaceBy(DEXTAPE)).toBe(0)
          await untilReady(service)
          await untilShared()
        })
      for (const [at, broker] of brokers.entries())
        await measure(`broker ${at + 1} restarted in order`, async () => {
          await stopInOrder(broker)
          await broker.restart()
          await until('copies in sync', isInSync)
        })
      const seconds = (performance.now() - started.atMs) / 1000
      timed.push(`${Math.round(((await publishedSwaps()) - started.swaps) / seconds)} swaps per second published`)
      console.info(timed.at(-1))
    }),
  )

  it('continue when one of each is killed', { timeout: 900_000 }, () =>
    telling(async () => {
      const broker = await leaderOfUpdates()
      await measure('broker killed', () => broker.kill())
      await measure('broker back', async () => {
        await broker.restart()
        await until('copies in sync', isInSync)
      })
      await untilShared()
      const [aggregate] = cluster.aggregates
      await measure('aggregate killed', async () => aggregate?.kill())
      await measure('aggregate back', async () => {
        await aggregate?.restart()
        await untilShared()
      })
      await measure('serve killed', () => cluster.serve.kill())
      await measure('serve back', async () => {
        await cluster.serve.restart()
        await untilReady(cluster.serve)
      })
    }),
  )

  it('lose nothing and double nothing', { timeout: 900_000 }, () =>
    telling(async () => {
      expect(await cluster.ingest.stop(), 'the exit code of ingest').toBe(0)
      const opened = openedLogOf(cluster)
      const published = new Map<string, number>()
      for (const chain of CHAINS) {
        const names = await blockNamesIn(opened, chain)
        const all = lines.get(chain) ?? []
        expect(names.length, 'load until the end').toBeLessThan(all.length)
        expect(names).toEqual(all.slice(0, names.length).map(nameOf))
        published.set(chain, names.length)
      }
      await cluster.untilSeqs(published, 600_000)
      for (const chain of CHAINS) {
        const { repeated: _, lastSeq: __, ...runs } = await updateRuns(opened, chain)
        expect(runs).toEqual({ epochs: [1], skipped: [], reused: [] })
      }
      const verdictNow = () =>
        verdictOn(
          opened,
          CHAINS,
          clients.flatMap(({ told }) => told),
        )
      await vi
        .waitUntil(async () => (await verdictNow()).lost === 0, { timeout: 30_000, interval: 2_000 })
        .catch(() => {})
      const { pushes: delivered, due, ...verdict } = await verdictNow()
      const connections = clients.map((client) => client.connections()).join(' and ')
      console.info(`${delivered} pushes over ${connections} connections; delivered ÷ due ${ratio(due, verdict.lost)}`)
      const notices = clients.flatMap((client) => client.notices).slice(0, 5)
      expect({ ...verdict, notices }).toEqual({
        ...{ lost: 0, twice: 0, disordered: 0, undue: 0, examples: [], notices: [] },
      })
      const counts = await rowCounts(cluster)
      expect(counts.filter(({ rows, unique }) => rows === 0 || rows !== unique)).toEqual([])
      for (const chain of CHAINS) {
        const reference = recompute((lines.get(chain) ?? []).slice(0, published.get(chain)), marketMoney(chain))
        expect(reference.candles.size).toBeGreaterThan(100)
        expect((await candleDifferences({ kind: 'server', url: cluster.store.url }, reference)).slice(0, 20)).toEqual(
          [],
        )
      }
      const { code, out, err } = await cluster.run('verify')
      expect({ code, out, err: code === 0 ? '' : err }).toMatchObject({ code: 0, err: '' })
    }),
  )
})

/** At most that of 1,000 swaps per second; less where the machine is busy or small, since what waits would only grow. */
async function speedHeld(tried: readonly RecordingLine[], after: number): Promise<string> {
  const startedMs = performance.now()
  await cluster.ingest.restart(['--events', writeTape(join(folder, 'tried.jsonl'), tried), '--speed', 'max'])
  await cluster.untilSeqs(seqsOf(tried))
  const held = (swapsIn(tried.slice(after)) * 1000) / (performance.now() - startedMs)
  const share = Math.min(1, (held * SHARE) / FULL_SWAPS_PER_S)
  console.info(`${Math.round(held)} swaps per second held; played at ${Math.round(share * FULL_SWAPS_PER_S)}`)
  return (FULL_SPEED * share).toFixed(2)
}

const swapsIn = (all: readonly RecordingLine[]): number =>
  all.flatMap((line) => (isRetract(line) ? [] : line.events)).filter(({ type }) => type === 'swap').length

const ratio = (due: number, lost: number): string => ((due - lost) / due).toFixed(3)

/** By the lines of the recording that are on the log. */
async function publishedSwaps(): Promise<number> {
  const { chains } = await cluster.status()
  return swapsIn(chains.flatMap(({ chain, seq }) => (lines.get(chain) ?? []).slice(0, seq)))
}
