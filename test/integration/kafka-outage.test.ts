/** The broker, then the store, is away for a while under load: named, answered around, waited for, and nothing is lost. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, KEY, startCluster } from '../rig/cluster/cluster.js'
import { openedLogOf } from '../rig/cluster/contents.js'
import type { LogLine } from '../rig/cluster/service.js'
import { updateRuns } from '../rig/cluster/update-runs.js'
import { memoryOf, resetPeak } from '../rig/servers/figures.js'
import { blockNamesIn } from '../rig/up/contents.js'

const AWAY_S = Number(process.env.OUTAGE_S ?? 15)
const SWAPS_PER_S = 300
const NAMED_WITHIN_MS = 5000
/** A hot answer needs neither. */
const ANSWERED_WITHIN_MS = 1000
/** Above what a process had before; what waits for whoever is away must not grow with how long that lasts. */
const GROWTH_MB = 200
const CHAINS = ['bsc', 'eth', 'solana']

let cluster: Cluster
let hotPaths: string[]

beforeAll(async () => {
  cluster = await startCluster({
    ingest: ['--simulate', '--rate', String(SWAPS_PER_S), '--seed', '9'],
    settings: { simulator: { history_h: 2 }, retention: { updates_h: 1_000_000 } },
  })
  const { serve } = cluster
  await serve.until('all chains live', async () => {
    const { chains } = await cluster.status()
    return CHAINS.every((name) => chains.some(({ chain, lag_s }) => chain === name && lag_s < 15))
  })
  const trending = '/v2/tokens/trending?chain=eth&page_size=5'
  const { tokens } = (await (await ask(trending)).json()) as { tokens: { token: string; main_pair: string }[] }
  const [first] = tokens
  hotPaths = ['/health', '/ready', '/status', '/metrics', trending, `/v2/pairs/${first?.main_pair}-eth`]
}, 300_000)

afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.error(cluster.tails(60))
})

afterAll(() => cluster?.stop())

const ask = (path: string) => cluster.serve.get(path, { 'x-api-key': KEY })

const seqs = async () => new Map((await cluster.status()).chains.map(({ chain, seq }) => [chain, seq]))

async function untilMoved(): Promise<void> {
  const before = await seqs()
  await cluster.serve.until('new updates of every chain', async () => {
    const now = await seqs()
    return CHAINS.every((chain) => (now.get(chain) ?? 0) > (before.get(chain) ?? 0) + 3)
  })
}

const isOf = (part: string, message: RegExp) => (line: LogLine) => line.part === part && message.test(line.message)

/** Lines that tell how far it is come every few seconds anyway. */
const isNews = ({ level }: LogLine) => level !== 'info'

async function outage(part: 'log' | 'store', leave: () => Promise<void>, comeBack: () => Promise<void>): Promise<void> {
  const services = cluster.services
  const before = services.map((service) => {
    resetPeak(service.pid)
    return { service, residentMb: memoryOf(service.pid).residentMb, lines: service.logged().length }
  })
  await leave()
  const left = performance.now()
  const isNamed = async () => (await cluster.status()).away.some((away) => away.part === part)
  await cluster.serve.until(`${part} named as away`, isNamed, NAMED_WITHIN_MS)
  const slow: string[] = []
  while (performance.now() - left < AWAY_S * 1000) {
    for (const path of hotPaths) {
      const asked = performance.now()
      const { status } = await ask(path)
      const tookMs = Math.round(performance.now() - asked)
      if (status !== 200 || tookMs > ANSWERED_WITHIN_MS) slow.push(`${path}: ${status} after ${tookMs} ms`)
    }
    await sleep(200)
  }
  expect(slow).toEqual([])
  await comeBack()
  await cluster.serve.until('nothing away', async () => (await cluster.status()).away.length === 0)
  await untilMoved()
  for (const { service, residentMb, lines } of before) {
    const { peakMb } = memoryOf(service.pid)
    const said = service.logged().slice(lines)
    console.info(
      `${part} away for ${AWAY_S} s: ${service.name} from ${residentMb.toFixed()} MB to at most ${peakMb.toFixed()} MB, ${said.length} lines`,
    )
    expect(peakMb - residentMb, service.name).toBeLessThan(GROWTH_MB)
    const uses = part === 'log' || service.name !== 'ingest'
    expect(said.filter(isOf(part, /is away/)).length, `${service.name} says it once`).toBe(uses ? 1 : 0)
    expect(said.filter(isOf(part, /is back/)).length, `${service.name} says it once`).toBe(uses ? 1 : 0)
    expect(said.filter(isNews).length, `${service.name} tells no flood`).toBeLessThan(10)
  }
}

describe(`${AWAY_S} s away, ${SWAPS_PER_S} swaps a second`, () => {
  it(
    'the broker',
    () =>
      outage(
        'log',
        () => cluster.broker.kill(),
        () => cluster.broker.restart(),
      ),
    300_000,
  )

  it(
    'the store',
    () =>
      outage(
        'store',
        () => cluster.store.kill(),
        () => cluster.store.restart(),
      ),
    300_000,
  )

  it('nothing is lost', async () => {
    expect(await cluster.ingest.stop()).toBe(0)
    const opened = openedLogOf(cluster)
    const published = new Map<string, number>()
    for (const chain of CHAINS) {
      const names = await blockNamesIn(opened, chain)
      expect(new Set(names).size).toBe(names.length)
      published.set(chain, names.length)
    }
    await cluster.untilSeqs(published, 120_000)
    for (const chain of CHAINS) {
      const { epochs, skipped, reused } = await updateRuns(opened, chain)
      expect({ epochs, skipped, reused }).toEqual({ epochs: [1], skipped: [], reused: [] })
    }
    const { code, out } = await cluster.run('verify')
    expect({ code, out }).toMatchObject({ code: 0 })
  }, 300_000)
})
