/** Sockets on a busy market: every expected push arrives once, in order and soon, whatever other clients do. */
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../rig/market/random.js'
import type { UpProcess } from '../../rig/up/process.js'
import { type Client, createClient } from './client.js'
import type { Verdict } from './compare.js'
import { type Disturbance, repeatQueries, repeatSearches, subscribeToNothing } from './disturb.js'
import { createLatencies, type Percentiles, percentilesOf } from './latency.js'
import { KEY, lastSeqsOf, type Market, type MarketPlan, onMarket } from './market.js'
import { openAll } from './open-all.js'
import { planSockets } from './plan.js'
import { type StageTimes, stagesBetween } from './stages.js'

export type LiveRun = MarketPlan & {
  sockets: number
  subscriptionsEach: number
  seconds: number
  /** Share of the sockets that stop reading. */
  stalled?: number
  /** Connections that repeat keyword searches. */
  searches?: number
  /** Connections that repeat the dearest SQL that is allowed. */
  queries?: number
  /** A free key subscribes to ids that do not exist. */
  isHostile?: boolean
  /** Receives progress lines, since a run takes a while. */
  onProgress(line: string): void
}

export type LiveResult = Verdict & {
  /** Messages other than pushes and replies, such as gap or too-slow notices. */
  notices: string[]
  /** Closed sockets among those that read. */
  closed: number
  swaps: number
  pushesPerS: number
  /** Of the slowest chain at any time. */
  lagS: number
  sentToReceived: Percentiles
  chainToReceived: Percentiles
  /** Of the blocks meanwhile. */
  stages: StageTimes[]
  /** Of the server, over time. */
  rssMb: number[]
  searches: Disturbance | undefined
  queries: Disturbance | undefined
  hostile: Disturbance | undefined
}

/** Time for pushes of the last counted block to arrive. */
const SETTLE_MS = 3000
const SAMPLES = 10

export function runLive(run: LiveRun): Promise<LiveResult> {
  return onMarket(run, (market) => listen(market, run))
}

async function listen(market: Market, run: LiveRun): Promise<LiveResult> {
  const random = createRandom(run.seed)
  const timing = { sent: createLatencies(), chain: createLatencies() }
  const plans = planSockets(run.sockets, run.subscriptionsEach, market.listed, random.next)
  const stalledCount = Math.ceil(run.sockets * (run.stalled ?? 0))
  const stalled = plans.slice(0, stalledCount).map((plan) => createClient(KEY, plan))
  const readers = plans.slice(stalledCount).map((plan) => createClient(KEY, plan, timing))
  run.onProgress(`${market.listed.length} pairs; opening ${run.sockets} sockets`)
  await openAll([...stalled, ...readers], await market.ws())
  for (const client of stalled) client.stall()
  timing.sent.clear()
  timing.chain.clear()

  const ended = new AbortController()
  // Every request that is under way listens to it.
  setMaxListeners(0, ended.signal)
  const searching = run.searches ? repeatSearches(market, run.searches, random, ended.signal) : undefined
  const querying = run.queries ? repeatQueries(market, run.queries, ended.signal) : undefined
  const attacking = run.isHostile ? subscribeToNothing(market, random, ended.signal) : undefined
  const metricsBefore = await metricsOfAllThreads(market.up())
  const began = { swaps: swapsOf(metricsBefore), atMs: Date.now() }
  run.onProgress(`all open; listening for ${run.seconds} s`)
  const { rssMb, lagS } = await sample(market.up(), run.seconds)
  const lastSeqs = await lastSeqsOf(market.up())
  const metricsAfter = await metricsOfAllThreads(market.up())
  const swaps = swapsOf(metricsAfter) - began.swaps
  const seconds = (Date.now() - began.atMs) / 1000
  ended.abort()
  const [searches, queries, hostile] = await Promise.all([searching, querying, attacking])
  await sleep(SETTLE_MS)

  const closed = readers.filter((client) => client.closedWith() !== undefined).length
  for (const client of [...stalled, ...readers]) client.close()
  run.onProgress('comparing with the log')
  const verdict = await market.compareAll(readers, lastSeqs)
  return {
    ...verdict,
    notices: readers.flatMap((client: Client) => client.notices),
    pushesPerS: verdict.pushes / seconds,
    sentToReceived: percentilesOf(timing.sent),
    chainToReceived: percentilesOf(timing.chain),
    stages: stagesBetween(metricsBefore, metricsAfter),
    ...{ closed, swaps, lagS, rssMb, searches, queries, hostile },
  }
}

async function sample(up: UpProcess, seconds: number): Promise<{ rssMb: number[]; lagS: number }> {
  const rssMb: number[] = []
  let lagS = 0
  for (let n = 0; n < SAMPLES; n += 1) {
    await sleep((seconds * 1000) / SAMPLES)
    const metrics = await up.metrics()
    rssMb.push(Math.round((metrics.get('process_resident_memory_bytes') ?? 0) / 2 ** 20))
    lagS = Math.max(lagS, ...[...(await up.status()).values()].map(({ lag_s }) => lag_s))
  }
  return { rssMb, lagS }
}

/** A busy thread may be left out of an answer. */
async function metricsOfAllThreads(up: UpProcess): Promise<ReadonlyMap<string, number>> {
  const needed = ['dextape_fold_swaps_total', 'dextape_ingest_']
  for (;;) {
    const metrics = await up.metrics()
    const names = [...metrics.keys()]
    if (needed.every((start) => names.some((name) => name.startsWith(start)))) return metrics
  }
}

function swapsOf(metrics: ReadonlyMap<string, number>): number {
  const samples = [...metrics].filter(([name]) => name.startsWith('dextape_fold_swaps_total'))
  return samples.reduce((sum, [, value]) => sum + value, 0)
}
