/**
 * Backfill from a node into the log, compared with a bare loop that sends the node the same `eth_getLogs` queries and
 * parses the answers. The difference is the cost of headers, senders, checks, decoding and writing. Swaps of Uniswap
 * V2 and V3, ten per transaction of 3 KB.
 *
 * anvil would recover a signature for each signed transaction (0.3 ms, as much as the logs of 30 swaps). The bench
 * therefore impersonates the senders, which anvil stores, as Reth and Erigon store them in their databases.
 */
import { fileURLToPath } from 'node:url'
import { tradeMuch } from '../rig/evm/busy-chain.js'
import { type EvmNode, startNode } from '../rig/evm/node.js'
import { type OpenMarket, openMarket } from '../rig/evm/opening.js'
import { type RpcRequest, startProxy } from '../rig/evm/proxy.js'
import { openSourcePlace } from '../rig/evm/source-run.js'
import { benchIndexer } from './indexer.js'
import { type Measured, measure, printTable } from './measure.js'

const PLAN = { blocks: 1000, transactionsPerBlock: 10, swapsPerTransaction: 10 }
const LIMIT = 0.6
/** Both alternate, and the fastest run of each counts. The loop runs twice, so that a quiet moment favours neither. */
const [ROUNDS, BARE_PASSES] = [6, 2]
/** Peak memory of the second half divided by the peak of the first half. */
const GROWTH_LIMIT = 1.25
const SAMPLE_MS = 100
const WITHIN_MS = 600_000

export async function benchEvm(): Promise<boolean> {
  const node = await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 })
  try {
    const market = await openMarket(node)
    console.log(
      `\nmaking a chain of ${(PLAN.blocks * PLAN.transactionsPerBlock * PLAN.swapsPerTransaction).toLocaleString('en')} swaps …`,
    )
    for (const wallet of market.wallets) await node.rpc('hardhat_impersonateAccount', [wallet])
    const swaps = await tradeMuch(market, PLAN)
    const queries = await queriesOf(market)
    const memory = watchMemory()
    const bares: Measured[] = []
    const all: Measured[] = []
    for (let round = 0; round < ROUNDS; round++) {
      bares.push(await barely(node, queries))
      all.push(await measure('backfill into the log', () => backfill(market, node.url)))
    }
    const [bare, ours] = [quickest(bares), quickest(all)]
    const growth = memory.growth()
    const ratio = bare.wallS / ours.wallS
    printTable(`EVM history (${swaps.toLocaleString('en')} swaps, ${queries.length} ranges)`, [
      ['', 'swaps/s', 'CPU µs/swap'],
      ...[bare, ours].map(({ name, wallS, cpuS }) => [name, swaps / wallS, (cpuS / swaps) * 1e6]),
    ])
    console.log(`  ours ÷ bare = ${ratio.toFixed(2)} (at least ${LIMIT})${ratio < LIMIT ? '  TOO LITTLE' : ''}`)
    console.log(
      `  memory: ${memory.summary()}, second half ÷ first = ${growth.toFixed(2)} (limit ${GROWTH_LIMIT})${growth > GROWTH_LIMIT ? '  GROWS' : ''}`,
    )
    const isSooner = await benchIndexer(market, swaps)
    return ratio >= LIMIT && growth <= GROWTH_LIMIT && isSooner
  } finally {
    await node.stop()
  }
}

/** The fastest run is the one with the least other load on the machine. */
const quickest = (all: readonly Measured[]): Measured =>
  all.reduce((best, one) => (one.wallS < best.wallS ? one : best))

/** The log queries of a backfill, recorded in a first run that also serves as warm-up. */
async function queriesOf(market: OpenMarket): Promise<unknown[]> {
  const queries: unknown[] = []
  const proxy = await startProxy(market.node, {
    async pass({ requests, batch }, upstream) {
      queries.push(
        ...requests.flatMap(({ method, params }: RpcRequest) => (method === 'eth_getLogs' ? [params?.[0]] : [])),
      )
      const answers = await upstream(requests)
      return { kind: 'answer', body: batch ? answers : answers[0] }
    },
  })
  await backfill(market, proxy.url)
  await proxy.stop()
  return queries
}

/** Measures the bare loop; the result is per pass. */
async function barely(node: EvmNode, queries: readonly unknown[]): Promise<Measured> {
  const { name, wallS, cpuS } = await measure('bare eth_getLogs loop', async () => {
    for (let pass = 0; pass < BARE_PASSES; pass++) for (const query of queries) await node.rpc('eth_getLogs', [query])
  })
  return { name, wallS: wallS / BARE_PASSES, cpuS: cpuS / BARE_PASSES }
}

async function backfill({ node, contracts }: OpenMarket, url: string): Promise<void> {
  const { hash } = await node.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
  const place = openSourcePlace(contracts)
  const scope = { pools: [], tokens: [], amms: [], balances: 'off' } as const
  const run = await place.start({ urls: [url], scope })
  if (!(await place.reached(hash, WITHIN_MS))) throw new Error('the head was not reached')
  await run.stop()
  await place.close()
}

function watchMemory() {
  const samples: number[] = []
  const timer = setInterval(() => samples.push(process.memoryUsage.rss() / 2 ** 20), SAMPLE_MS)
  const highest = (from: number, to: number) => Math.max(...samples.slice(from, to))
  return {
    growth() {
      clearInterval(timer)
      const half = Math.floor(samples.length / 2)
      return highest(half, samples.length) / highest(0, half)
    },
    summary: () => `${Math.round(samples[0] ?? 0)} MB at first, ${Math.round(highest(0, samples.length))} MB at most`,
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = (await benchEvm()) ? 0 : 1
