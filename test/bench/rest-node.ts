/**
 * A node for the REST benchmark: aggregate and serve in one process, as `up` has them, on ten hours of trades, with a block of
 * 100 swaps every second. Beside it, bare Fastify routes that return a constant of any size.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fastify } from 'fastify'
import { memoryStateStore } from '../../services/aggregate/checkpoint/state-store.js'
import { createAggregate } from '../../services/aggregate/main.js'
import type { Block, Event } from '../../services/core/domain/records.js'
import { createCodec } from '../../services/core/log/codec.js'
import { openEmbedded } from '../../services/core/log/embedded-log.js'
import { blocksTopic } from '../../services/core/log/port.js'
import { silentLogger } from '../../services/core/runtime/logger.js'
import { createMetrics } from '../../services/core/runtime/metrics.js'
import { openStore } from '../../services/core/store/clickhouse-store.js'
import { createServe, type ServeDeps } from '../../services/serve/main.js'
import { address, BENCH_CHAIN, benchBlocks, benchFacts, hash } from './workload.js'

export const REST_KEY = 'bench'
export const CHARTED_POOLS = 20
const PLAN = { pools: 2_000, wallets: 4_000, blocks: 1_200, skew: 4 }
const PAST_BLOCKS = 600
const SECONDS_PER_BLOCK = 60
const HOLDERS = 300
const BLOCK_EVERY_MS = 1_000
const DAY_MS = 86_400_000
/** The first block describes everything at once. */
const MAX_VALUE_BYTES = 64_000_000

export type RestPorts = { served: number; bare: number }

export async function startRestNode(given: Partial<ServeDeps>): Promise<RestPorts & { stop(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'dextape-rest-'))
  const { log, registry } = openEmbedded({ path: join(dir, 'log'), maxValueBytes: MAX_VALUE_BYTES })
  const codec = createCodec(registry)
  const store = await openStore({ kind: 'embedded', path: join(dir, 'store') })
  await store.migrate()
  const topic = blocksTopic(BENCH_CHAIN)
  const blocks = minuteBlocks()
  const append = async (count: number) => {
    for (let done = 0; done < count; done += 1) {
      const { value: block } = blocks.next()
      if (block === undefined) return
      await log.append(topic, [
        { key: BENCH_CHAIN, value: codec.encodeBlock(topic, block), timestampMs: block.time * 1000 },
      ])
    }
  }
  await append(PAST_BLOCKS)

  const settings = {
    ...{ maxTimeBackS: 3600, journalBlocks: 4096, flushEveryMs: 30_000, flushRows: 50_000, checkpointEveryMs: 60_000 },
    ...{ updatesKeptMs: DAY_MS, updatesHeldMs: 0, deadKeptMs: DAY_MS, secondCandlesKeptS: 30 * 86_400 },
  }
  const aggregate = createAggregate({
    ...{ log, codec, store, settings, logger: silentLogger, nowMs: Date.now, factsOf: () => benchFacts },
    openState: async () => memoryStateStore(),
  })
  const folding = new AbortController()
  const folded = aggregate.runChain(BENCH_CHAIN, folding.signal)
  const { end } = await log.info(topic)
  while (aggregate.status()[0]?.position !== end) await new Promise((resolve) => setTimeout(resolve, 20))

  const serve = createServe({
    ...{ log, codec, store, logger: silentLogger, metrics: createMetrics({ processMetrics: false }) },
    keys: { lookup: () => undefined, list: () => [], spentCu: () => 0, addSpentCu: async () => {} },
    flush: (chain) => aggregate.flush(chain),
    config: {
      ...{ host: '127.0.0.1', httpPort: 0, wsPort: 0, pushServer: 'ws', envelope: 'spec' },
      apiKey: { kind: 'fixed', key: REST_KEY },
      chains: new Map([[BENCH_CHAIN, benchFacts]]),
      contracts: new Map(),
    },
    ...given,
  })
  const { httpPort } = await serve.start()
  const bare = await startBare()
  const timer = setInterval(() => void append(1), BLOCK_EVERY_MS)
  return {
    served: httpPort,
    bare: bare.port,
    async stop() {
      clearInterval(timer)
      await bare.app.close()
      await serve.stop()
      folding.abort()
      await folded
      await store.close()
      await log.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Minutes apart, so that ten hours of one-minute candles are few blocks; the first one has the holders. */
function* minuteBlocks(): Generator<Block, undefined> {
  for (const block of benchBlocks(PLAN)) {
    const events = block.number === 0 ? [...block.events, ...balances(block.events.length)] : block.events
    yield { ...block, events, time: block.time + block.number * (SECONDS_PER_BLOCK - 2) }
  }
  return undefined
}

function balances(firstLog: number): Event[] {
  return Array.from({ length: CHARTED_POOLS * HOLDERS }, (_, n) => ({
    ...{ type: 'balance', tx_index: 0, log_index: firstLog + n, sub: 0, tx_hash: hash('tx', 0) },
    ...{ token: address('token', 1 + (n % CHARTED_POOLS)), holder: address('wallet', Math.floor(n / CHARTED_POOLS)) },
    ...{ delta: null, balance: `${1_000 + n}000000000000000000` },
  }))
}

/** What a constant costs: a JSON text of the given size. */
async function startBare() {
  const app = fastify({ logger: false })
  const texts = new Map<string, string>()
  app.get<{ Params: { bytes: string } }>('/constant/:bytes', async (request, reply) => {
    const { bytes } = request.params
    let text = texts.get(bytes)
    if (text === undefined) {
      text = JSON.stringify('x'.repeat(Math.max(0, Number(bytes) - 2)))
      texts.set(bytes, text)
    }
    return reply.type('application/json; charset=utf-8').send(text)
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const at = app.server.address()
  return { app, port: typeof at === 'object' && at !== null ? at.port : 0 }
}
