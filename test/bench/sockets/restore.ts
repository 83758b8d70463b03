/** Many subscriptions reconnect at once with `since`: it is quick, and does not delay the clients that stayed. */
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../rig/market/random.js'
import { createClient } from './client.js'
import type { Verdict } from './compare.js'
import { createLatencies, type Percentiles, percentilesOf } from './latency.js'
import { KEY, lastSeqsOf, type MarketPlan, onMarket } from './market.js'
import { openAll } from './open-all.js'
import { planSockets } from './plan.js'

export type RestoreRun = MarketPlan & {
  /** Sockets that reconnect. */
  sockets: number
  subscriptionsEach: number
  /** Sockets that stay. */
  staying: number
  /** How long they are disconnected. */
  awayS: number
  /** How long those that stay are observed after the others reconnected. */
  seconds: number
  onProgress(line: string): void
}

export type RestoreResult = Verdict & {
  /** Until every subscription is acknowledged, and until each has what it missed. */
  acknowledgedS: number
  restoredS: number
  /** Of the server's main thread until then; NaN where the system does not tell. */
  cpuS: number
  /** From `sent_time` to the arrival at the sockets that stay. */
  before: Percentiles
  during: Percentiles
}

const SUBSCRIPTIONS_OF_STAYING = 20
const SETTLE_MS = 3000
const POLL_MS = 100

export function runRestore(run: RestoreRun): Promise<RestoreResult> {
  return onMarket(run, async (market) => {
    const { next } = createRandom(run.seed)
    const timing = { sent: createLatencies(), chain: createLatencies() }
    const returning = planSockets(run.sockets, run.subscriptionsEach, market.listed, next).map((plan) =>
      createClient(KEY, plan),
    )
    const staying = planSockets(run.staying, SUBSCRIPTIONS_OF_STAYING, market.listed, next).map((plan) =>
      createClient(KEY, plan, timing),
    )
    run.onProgress(`opening ${run.sockets + run.staying} sockets`)
    await openAll([...returning, ...staying], await market.ws())
    timing.sent.clear()
    run.onProgress(`all open; disconnecting ${run.sockets} of them for ${run.awayS} s`)
    for (const client of returning) client.close()
    await sleep(run.awayS * 1000)
    const before = percentilesOf(timing.sent)
    timing.sent.clear()
    const [startedMs, startedCpuS] = [Date.now(), mainThreadCpuS(market.up().pid)]
    await openAll(returning, await market.ws())
    const acknowledgedS = (Date.now() - startedMs) / 1000
    while ((await market.up().metrics()).get('dextape_serve_catching_up') !== 0) await sleep(POLL_MS)
    const restoredS = (Date.now() - startedMs) / 1000
    const cpuS = mainThreadCpuS(market.up().pid) - startedCpuS
    await sleep(run.seconds * 1000)
    const during = percentilesOf(timing.sent)
    const lastSeqs = await lastSeqsOf(market.up())
    await sleep(SETTLE_MS)
    for (const client of [...returning, ...staying]) client.close()
    run.onProgress('comparing with the log')
    return {
      ...(await market.compareAll([...returning, ...staying], lastSeqs)),
      acknowledgedS,
      restoredS,
      cpuS,
      before,
      during,
    }
  })
}

/** Fields 14 and 15 of its stat file: time in user and in kernel mode, in hundredths of a second. NaN if there is no such file. */
function mainThreadCpuS(pid: number): number {
  const file = `/proc/${pid}/task/${pid}/stat`
  if (!existsSync(file)) return Number.NaN
  const fields = readFileSync(file, 'utf8').split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}
