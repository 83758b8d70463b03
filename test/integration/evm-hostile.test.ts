/**
 * The source against a node that fails and lies, the chain reorganised in the middle of it, the process killed at random: what is
 * published in the end is what a clean run publishes.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { crashingLog } from '../rig/aggregate/crashing-log.js'
import { startHostileNode } from '../rig/evm/hostile-node.js'
import { playMarket } from '../rig/evm/market.js'
import { type EvmNode, startNode } from '../rig/evm/node.js'
import { type OpenMarket, openMarket } from '../rig/evm/opening.js'
import { openSourcePlace, type SourcePlace } from '../rig/evm/source-run.js'
import { createRandom } from '../rig/market/random.js'
import { acceptedBlocks } from '../rig/reference/lines.js'

const SEEDS = Number(process.env.SEEDS ?? 20)
const FIRST_SEED = Number(process.env.FIRST_SEED ?? 1)
const ORPHANS = { seed: 101, blocks: 5, reorgChance: 0 }
const SURVIVORS = { seed: 102, blocks: 7, reorgChance: 0 }

let node: EvmNode
let market: OpenMarket
/** Before the last blocks, which are reorganised. */
let fork: string
let clean: unknown[]
let headHash: string

beforeAll(async () => {
  node = await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 })
  const opened = await openMarket(node)
  const { pools } = await playMarket(opened, { seed: 100, blocks: 25, reorgChance: 0 })
  market = { ...opened, pools }
  fork = await node.snapshot()
  await playMarket(market, SURVIVORS)
  headHash = (await node.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).hash
  const place = openSourcePlace(market.contracts)
  const run = await place.start({ urls: [node.wsUrl] })
  expect(await place.reached(headHash, 30_000)).toBe(true)
  await run.stop()
  clean = await canonical(place)
  await place.close()
})
afterAll(() => node?.stop())

/** What is final is told as it is known at the moment, so it is left out. */
async function canonical(place: SourcePlace): Promise<unknown[]> {
  return acceptedBlocks(await place.lines()).map(({ finalized_number: _, ...block }) => block)
}

async function backToFork(): Promise<void> {
  await node.revert(fork)
  fork = await node.snapshot()
}

const seeds = Array.from({ length: SEEDS }, (_, at) => FIRST_SEED + at)

test.each(seeds)('seed %i: the clean run’s blocks', async (seed) => {
  const random = createRandom(seed)
  await backToFork()
  await playMarket(market, ORPHANS)
  const hostile = await startHostileNode(node, { seed, silenceMs: 200 })
  hostile.after(random.int(10, 250), async () => {
    await backToFork()
    await playMarket(market, SURVIVORS)
  })
  const place = openSourcePlace(market.contracts)
  try {
    let kills = random.int(1, 4)
    for (;;) {
      const through = kills > 0 ? 0.3 : 0
      const run = await place
        .start({
          urls: [hostile.url, hostile.wsUrl],
          through: (log) => crashingLog(log, random, through),
        })
        .catch(() => null)
      const reached = place.reached(headHash, kills > 0 ? random.int(20, 400) : 30_000)
      const outcome = await Promise.race([run?.ended ?? { kind: 'failed' as const }, reached])
      await run?.stop()
      if (outcome === true) break
      if (kills <= 0) expect(outcome).toBe('reached')
      kills--
    }
    expect(await canonical(place)).toEqual(clean)
    expect(await place.deadLetters()).toEqual([])
    expect(hostile.errors + hostile.lies).toBeGreaterThan(0)
  } finally {
    await place.close()
    await hostile.stop()
  }
})
