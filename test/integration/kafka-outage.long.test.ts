/** The broker, then the store, is away for a while under load: named, answered around, waited for, and nothing is lost. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, KEY, startCluster } from '../rig/cluster/cluster.js'
import { openedLogOf } from '../rig/cluster/contents.js'
import type { LogLine } from '../rig/cluster/service.js'
import { updateRuns } from '../rig/cluster/update-runs.js'
import { countOf, isLongRun, seedOf } from '../rig/counts.js'
import { memoryOf, resetPeak } from '../rig/servers/figures.js'
import { blockNamesIn } from '../rig/up/contents.js'

const AWAY_S = countOf('outageSeconds')
const SWAPS_PER_S = isLongRun() ? 1000 : 40
const HISTORY_H = isLongRun() ? 2 : 0.1
/** A block of the slowest chain comes every twelve seconds. */
const LIVE_LAG_S = 20
const NAMED_WITHIN_MS = 10_000
/** A hot answer needs neither, and waits for neither. */
const ANSWERED_WITHIN_MS = 3000
/** What waits for whoever is away must not grow with how long that lasts: above what a process had before, and in all, caught up. */
const GROWTH_MB = 150
const MOST_MB = 1200
const CHAINS = ['bsc', 'eth', 'solana']

let cluster: Cluster
let hotPaths: string[]

beforeAll(async () => {
  cluster = await startCluster({
    ingest: ['--simulate', '--rate', String(SWAPS_PER_S), '--seed', String(seedOf('outageSeconds'))],
    settings: { simulator: { history_h: HISTORY_H }, retention: { updates_h: 1_000_000 } },
  })
  await untilLive()
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

/** Nothing is left of the history, nor of an outage before. */
async function untilLive(): Promise<void> {
  await cluster.serve.until('all chains live', async () => {
    const { chains } = await cluster.status()
    return CHAINS.every((name) => chains.some(({ chain, lag_s }) => chain === name && lag_s < LIVE_LAG_S))
  })
}

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
  await untilLive()
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
  const whileAway = new Map(services.map((service) => [service, memoryOf(service.pid).peakMb]))
  await comeBack()
  await cluster.serve.until('nothing away', async () => (await cluster.status()).away.length === 0)
  await untilMoved()
  for (const { service, residentMb, lines } of before) {
    const [awayMb = Number.NaN, { peakMb }] = [whileAway.get(service), memoryOf(service.pid)]
    const said = service.logged().slice(lines)
    const figures = [residentMb, awayMb, peakMb].map((mb) => `${mb.toFixed()} MB`)
    console.info(
      `${part} away for ${AWAY_S} s: ${service.name} before, meanwhile and caught up ${figures.join(', ')}; ${said.length} lines`,
    )
    expect(awayMb - residentMb, service.name).toBeLessThan(GROWTH_MB)
    expect(peakMb, service.name).toBeLessThan(MOST_MB)
    const [away, back] = [/^part unreachable/, /^part reachable/].map((text) => said.filter(isOf(part, text)).length)
    const isConcerned = part === 'log' || service.name !== 'ingest'
    expect(away, `${service.name} says that it is back as often as that it is away`).toBe(back)
    // Twice where an answer was still on its way when the other side died.
    expect(isConcerned ? [1, 2] : [0], `${service.name} says it once`).toContain(away)
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
    await cluster.untilSeqs(published)
    for (const chain of CHAINS) {
      const { epochs, skipped, reused } = await updateRuns(opened, chain)
      expect({ epochs, skipped, reused }).toEqual({ epochs: [1], skipped: [], reused: [] })
    }
    const { code, out } = await cluster.run('verify')
    expect({ code, out }).toMatchObject({ code: 0 })
  }, 300_000)
})
