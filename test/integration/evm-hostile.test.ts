/**
 * The source against a node that fails and lies, with a reorg in between and the process killed at random.
 * It must publish what a clean run publishes.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EventLog } from '../../services/core/log/port.js'
import { crashingLog } from '../rig/aggregate/crashing-log.js'
import { countOf, seedsOf } from '../rig/counts.js'
import { type HostileNode, startHostileNode } from '../rig/evm/hostile-node.js'
import { playMarket } from '../rig/evm/market.js'
import { type EvmNode, startNode } from '../rig/evm/node.js'
import { type OpenMarket, openMarket } from '../rig/evm/opening.js'
import { openSourcePlace, type SourcePlace } from '../rig/evm/source-run.js'
import { createRandom, type Random } from '../rig/market/random.js'
import { acceptedBlocks } from '../rig/reference/lines.js'

const SEEDS = countOf('evmHostileSeeds')
const ORPHANS = { seed: 101, blocks: 5, reorgChance: 0 }
const SURVIVORS = { seed: 102, blocks: 7, reorgChance: 0 }

let node: EvmNode
let market: OpenMarket
/** Snapshot before the last blocks, which a reorg replaces. */
let fork: string
let clean: unknown[]
const happened = { kills: 0, retracts: 0, errors: 0, lies: 0 }
let headHash: string

beforeAll(async () => {
  node = await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 })
  const opened = await openMarket(node)
  const { pools } = await playMarket(opened, { seed: 100, blocks: 25, reorgChance: 0 })
  market = { ...opened, pools }
  fork = await node.snapshot()
  await playMarket(market, SURVIVORS)
  headHash = await headOf(node)
  const place = openSourcePlace(market.contracts)
  const run = await place.start({ urls: [node.wsUrl] })
  expect(await place.reached(headHash, 30_000)).toBe(true)
  await run.stop()
  clean = await canonical(place)
  await place.close()
})
afterAll(() => node?.stop())

const headOf = async ({ rpc }: EvmNode) => (await rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).hash

/** Without finality, which depends on when a block was read. */
async function canonical(place: SourcePlace): Promise<unknown[]> {
  return acceptedBlocks(await place.lines()).map(({ finalized_number: _, ...block }) => block)
}

async function backToFork(): Promise<void> {
  await node.revert(fork)
  fork = await node.snapshot()
}

test.each(seedsOf('evmHostileSeeds'))('seed %i: publishes the blocks of a clean run', async (seed) => {
  const random = createRandom(seed)
  await backToFork()
  await playMarket(market, ORPHANS)
  const orphanHead = await headOf(node)
  const hostile = await startHostileNode(node, { seed, silenceMs: 200 })
  const reorganise = async () => {
    await backToFork()
    await playMarket(market, SURVIVORS)
  }
  const place = openSourcePlace(market.contracts)
  const reading = { place, hostile, random }
  try {
    // While ranges are read, or once the orphans are published.
    if (seed % 2 === 0) hostile.after(random.int(10, 150), reorganise)
    else {
      await readTo(orphanHead, random.int(0, 2), reading)
      await hostile.between(reorganise)
    }
    await readTo(headHash, random.int(1, 3), reading)
    happened.retracts += (await place.lines()).filter(({ kind }) => kind === 'retract').length
    happened.errors += hostile.errors
    happened.lies += hostile.lies
    expect(await canonical(place)).toEqual(clean)
    expect(await place.deadLetters()).toEqual([])
  } finally {
    await place.close()
    await hostile.stop()
  }
})

type Reading = { place: SourcePlace; hostile: HostileNode; random: Random }

/** Runs until the block is published, with up to `kills` kills while the source waits or appends. */
async function readTo(hash: string, kills: number, { place, hostile, random }: Reading): Promise<void> {
  for (let left = kills; ; left--) {
    const through = (log: EventLog) => crashingLog(log, random, left > 0 ? 0.3 : 0)
    const run = await place.start({ urls: [hostile.url, hostile.wsUrl], through }).catch(() => null)
    const reached = place.reached(hash, left > 0 ? random.int(20, 400) : 30_000)
    const outcome = await Promise.race([run?.ended ?? { kind: 'failed' as const }, reached])
    await run?.stop()
    if (outcome === true) return
    // A failed start is retried, as a supervisor would.
    if (left <= 0 && run !== null) expect(outcome, 'the run without a kill').toBe(true)
    happened.kills++
  }
}

test('the runs had reorgs of published blocks, errors and lies, and kills if there were many', () => {
  const { kills, retracts, errors, lies } = happened
  expect({ retracts: retracts > SEEDS / 10, errors: errors > 0, lies: lies > 0 }).toEqual({
    ...{ retracts: true, errors: true, lies: true },
  })
  // A run may reach its last block before the moment of its kill.
  if (SEEDS >= 10) expect(kills).toBeGreaterThan(SEEDS)
})
