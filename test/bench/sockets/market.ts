/** A real `dextape up` on the simulated market, with many sockets whose pushes are compared with the log. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repositoryRoot } from '../../../schemas/avro.js'
import { createCodec } from '../../../services/core/log/codec.js'
import { openEmbedded } from '../../../services/core/log/embedded-log.js'
import { startUp, type UpProcess } from '../../rig/up/process.js'
import type { Client } from './client.js'
import { compare, newVerdict, type Verdict } from './compare.js'
import { channelsOf, createExpectation } from './expected.js'
import { readPools, readUpdates } from './log.js'
import type { Listed } from './plan.js'

export type MarketPlan = {
  swapsPerS: number
  seed: number
  /** Hours of market history before the first socket opens; six by default. */
  historyH?: number
}

export type Market = {
  /** The process that runs now. */
  up(): UpProcess
  ws(): Promise<string>
  listed: readonly Listed[]
  /** Kills the process and starts it again on the same data. */
  restart(): Promise<void>
  createKey(plan: 'free' | 'unlimited'): Promise<string>
  /** Compares what the clients received with the log, up to the given seq of each chain. */
  compareAll(clients: readonly Client[], lastSeqs: ReadonlyMap<string, number>): Promise<Verdict>
}

export const KEY = 'dx_sockets'

export async function onMarket<T>(plan: MarketPlan, work: (market: Market) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-sockets-'))
  const dataDir = join(folder, 'data')
  const simulator = { seed: plan.seed, swaps_per_s: plan.swapsPerS, history_h: plan.historyH ?? 6 }
  const start = () => startUp({ dataDir, config: { simulator }, env: { DEXTAPE_API_KEY: KEY }, asUser: true })
  let up = start()
  try {
    const { rest } = await up.serving
    return await work({
      up: () => up,
      ws: async () => (await up.serving).ws,
      listed: await listPairs(rest),
      async restart() {
        await up.kill()
        up = start()
        await up.serving
      },
      createKey: (name) => createKey(dataDir, name),
      compareAll: (clients, lastSeqs) => compareAll(dataDir, clients, lastSeqs),
    })
  } finally {
    await up.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function lastSeqsOf(up: UpProcess): Promise<Map<string, number>> {
  return new Map([...(await up.status())].map(([chain, { seq }]) => [chain, seq]))
}

async function createKey(dataDir: string, plan: string): Promise<string> {
  const args = ['keys', 'create', '--name', `load-${plan}`, '--plan', plan, '--data-dir', dataDir]
  const command = join(repositoryRoot(), 'services/cli/dextape.js')
  const { stdout } = await promisify(execFile)(process.execPath, [command, ...args])
  return stdout.trim()
}

async function compareAll(dataDir: string, clients: readonly Client[], lastSeqs: ReadonlyMap<string, number>) {
  const verdict = newVerdict()
  const { log, registry } = openEmbedded({ path: join(dataDir, 'log') })
  try {
    const reading = { log, codec: createCodec(registry) }
    for (const [chain, seq] of lastSeqs) await compareChain(verdict, reading, clients, chain, seq)
  } finally {
    await log.close()
  }
  return verdict
}

async function compareChain(
  verdict: Verdict,
  reading: Parameters<typeof readPools>[0],
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
