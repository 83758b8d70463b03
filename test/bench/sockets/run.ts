/**
 * Many sockets on a real process with the simulated market. Compares every push with the updates on the log: each
 * expected push arrives once and in order.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCodec } from '../../../services/core/log/codec.js'
import { openEmbedded } from '../../../services/core/log/embedded-log.js'
import { createRandom } from '../../rig/market/random.js'
import { startUp, type UpProcess } from '../../rig/up/process.js'
import { type Client, openClient } from './client.js'
import { compare, newVerdict, type Verdict } from './compare.js'
import { channelsOf, createExpectation } from './expected.js'
import { readPools, readUpdates } from './log.js'
import { type Listed, planSockets } from './plan.js'

export type SocketsRun = {
  sockets: number
  subscriptionsEach: number
  swapsPerS: number
  seconds: number
  seed: number
  /** Hours of market history before the first socket opens; six by default. */
  historyH?: number
  /** Receives progress lines, since a run takes a while. */
  onProgress(line: string): void
}

export type SocketsResult = Verdict & {
  /** Messages other than pushes and replies, such as gap or too-slow notices. */
  notices: string[]
  closed: number
  swaps: number
  pushesPerS: number
  lagS: number
}

const KEY = 'dx_sockets'
const OPEN_AT_ONCE = 50
/** Time for pushes of the last counted block to arrive. */
const SETTLE_MS = 3000

export async function runSockets(run: SocketsRun): Promise<SocketsResult> {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-sockets-'))
  const dataDir = join(folder, 'data')
  const up = startUp({
    dataDir,
    config: { simulator: { seed: run.seed, swaps_per_s: run.swapsPerS, history_h: run.historyH ?? 6 } },
    env: { DEXTAPE_API_KEY: KEY },
  })
  try {
    return await onRunning(up, dataDir, run)
  } finally {
    await up.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function onRunning(up: UpProcess, dataDir: string, run: SocketsRun): Promise<SocketsResult> {
  const { rest, ws } = await up.serving
  const listed = await listPairs(rest)
  run.onProgress(`${listed.length} pairs; opening ${run.sockets} sockets`)
  const plans = planSockets(run.sockets, run.subscriptionsEach, listed, createRandom(run.seed).next)
  const clients: Client[] = []
  for (let at = 0; at < plans.length; at += OPEN_AT_ONCE) {
    const opened = plans.slice(at, at + OPEN_AT_ONCE).map((plan) => openClient(ws, KEY, plan))
    clients.push(...(await Promise.all(opened)))
  }
  const began = { swaps: await swapsOf(up), atMs: Date.now() }
  run.onProgress(`all open; listening for ${run.seconds} s`)
  await sleep(run.seconds * 1000)
  const last = await up.status()
  const swaps = (await swapsOf(up)) - began.swaps
  const seconds = (Date.now() - began.atMs) / 1000
  await sleep(SETTLE_MS)
  const closed = clients.filter((client) => client.closedWith() !== undefined).length
  for (const client of clients) client.close()
  run.onProgress('comparing with the log')
  const verdict = newVerdict()
  const { log, registry } = openEmbedded({ path: join(dataDir, 'log') })
  try {
    for (const [chain, { seq }] of last)
      await compareChain(verdict, { log, codec: createCodec(registry) }, clients, chain, seq)
  } finally {
    await log.close()
  }
  const notices = clients.flatMap((client) => client.notices)
  const lagS = Math.max(...[...last.values()].map(({ lag_s }) => lag_s))
  return { ...verdict, notices, closed, swaps, pushesPerS: verdict.pushes / seconds, lagS }
}

type Reading = Parameters<typeof readPools>[0]

async function compareChain(
  verdict: Verdict,
  reading: Reading,
  clients: readonly Client[],
  chain: string,
  lastSeq: number,
): Promise<void> {
  const heard = clients.flatMap((client) => client.heard).filter(({ params }) => channelsOf(params).has(chain))
  const wanted = new Set(heard.flatMap(({ params }) => channelsOf(params).get(chain) ?? []))
  const expectation = createExpectation(chain, await readPools(reading, chain), wanted)
  for await (const update of readUpdates(reading, chain)) {
    if (update.seq > lastSeq) break
    expectation.take(update)
  }
  for (const one of heard) compare(verdict, one, chain, expectation.due, lastSeq)
}

async function swapsOf(up: UpProcess): Promise<number> {
  const samples = [...(await up.metrics())].filter(([name]) => name.startsWith('dextape_fold_swaps_total'))
  return samples.reduce((sum, [, value]) => sum + value, 0)
}

/** Every token with a main pair, from the trending lists. */
async function listPairs(rest: string): Promise<Listed[]> {
  const listed: Listed[] = []
  for (const chain of ['eth', 'bsc', 'solana']) {
    for (let page = 0; page >= 0; ) {
      const response = await fetch(`${rest}/v2/tokens/trending?chain=${chain}&page_size=100&current_page=${page}`, {
        headers: { 'x-api-key': KEY },
      })
      const body = (await response.json()) as { next_page: number; tokens: TrendingToken[] }
      for (const { token, main_pair: pair, tx_count_24h: swapsADay } of body.tokens)
        if (pair !== '') listed.push({ chain, token, pair, swapsADay })
      page = body.next_page
    }
  }
  return listed
}

type TrendingToken = { token: string; main_pair: string; tx_count_24h: number }
