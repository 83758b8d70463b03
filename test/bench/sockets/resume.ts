/** Sockets are held, the server is killed and comes back: all resume with `since` and have missed and repeated nothing. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../rig/market/random.js'
import { createClient } from './client.js'
import type { Verdict } from './compare.js'
import { KEY, lastSeqsOf, type MarketPlan, onMarket } from './market.js'
import { openAll } from './open-all.js'
import { planSockets } from './plan.js'

export type ResumeRun = MarketPlan & {
  sockets: number
  subscriptionsEach: number
  /** How long all sockets are held; the server is killed after half of it. */
  seconds: number
  onProgress(line: string): void
}

export type ResumeResult = Verdict & {
  notices: string[]
  closed: number
  /** From the kill to the server's return, and from there until every subscription is acknowledged. */
  downS: number
  resumedS: number
}

const SETTLE_MS = 5000

export function runResume(run: ResumeRun): Promise<ResumeResult> {
  return onMarket(run, async (market) => {
    const { next } = createRandom(run.seed)
    const plans = planSockets(run.sockets, run.subscriptionsEach, market.listed, next)
    const clients = plans.map((plan) => createClient(KEY, plan))
    run.onProgress(`opening ${run.sockets} sockets`)
    await openAll(clients, await market.ws())
    run.onProgress(`all open; killing the server in ${run.seconds / 2} s`)
    await sleep(run.seconds * 500)
    const killedMs = Date.now()
    await market.restart()
    const backMs = Date.now()
    run.onProgress('the server is back; resuming')
    await openAll(clients, await market.ws())
    const resumedMs = Date.now()
    run.onProgress(`all resumed; listening for ${run.seconds / 2} s`)
    await sleep(run.seconds * 500)
    const lastSeqs = await lastSeqsOf(market.up())
    await sleep(SETTLE_MS)
    const closed = clients.filter((client) => client.closedWith() !== undefined).length
    for (const client of clients) client.close()
    run.onProgress('comparing with the log')
    const verdict = await market.compareAll(clients, lastSeqs)
    const notices = clients.flatMap((client) => client.notices)
    const [downS, resumedS] = [(backMs - killedMs) / 1000, (resumedMs - backMs) / 1000]
    return { ...verdict, notices, closed, downS, resumedS }
  })
}
