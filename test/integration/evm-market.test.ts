/**
 * The source and the fold on a real chain with the exchanges' own contracts and a random market with reorgs. The result must match
 * the contracts, and the candles their recomputation. More seeds: `npm run test:long`.
 */
import { afterAll, beforeEach, expect, test } from 'vitest'
import { differencesFromReference } from '../rig/aggregate/against-reference.js'
import { foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { Reader } from '../rig/aggregate/reader.js'
import { seedsOf } from '../rig/counts.js'
import { differencesFromContracts } from '../rig/evm/against-contracts.js'
import { type Moment, playMarket } from '../rig/evm/market.js'
import { startNode } from '../rig/evm/node.js'
import { type OpenMarket, openMarket } from '../rig/evm/opening.js'
import { chainFactsOf, openSourcePlace, type SourcePlace } from '../rig/evm/source-run.js'
import { type StillNode, startStillNode } from '../rig/evm/still-node.js'
import { truth } from '../rig/evm/truth.js'
import { recompute } from '../rig/reference/recompute.js'

/** Anvil keeps the states of about 4,000 blocks, orphans included: the first would be gone after 57 seeds. */
const SEEDS_A_NODE = 25

let still: StillNode | undefined
let market: OpenMarket
let played = 0
beforeEach(async () => {
  if (played++ % SEEDS_A_NODE !== 0) return
  await still?.node.stop()
  still = await startStillNode(await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 }))
  market = await openMarket(still.node)
})
afterAll(() => still?.node.stop())

test.each(seedsOf('evmMarketSeeds'))(
  'seed %i: reserves, prices, balances, trades and candles match the chain',
  async (seed) => {
    const { node } = market
    const opened = await node.snapshot()
    const place = openSourcePlace(market.contracts)
    try {
      // Even seeds start in the middle, so pools, tokens and balances are read when first used.
      const number = seed % 2 === 0 ? Number(await node.rpc('eth_blockNumber')) : 1
      const run = await place.start({ urls: [still?.front.wsUrl ?? ''], start: { kind: 'block', number } })
      const { pools, reorgs } = await playMarket(market, {
        seed,
        blocks: 50,
        reorgChance: 0.1,
        seen: (moment) => noticed(place, moment),
      })
      expect(await place.reached(await headHash(), 20_000)).toBe(true)
      expect(await run.stop()).toEqual({ kind: 'stopped' })

      const lines = await place.lines()
      const facts = chainFactsOf(market.contracts)
      const reader = new Reader()
      for (const result of foldLines(startFold(facts), lines)) reader.read(result)
      const onChain = await truth(market, pools)
      expect({
        dead: await place.deadLetters(),
        fromContracts: differencesFromContracts(market, pools, onChain, lines, reader).slice(0, 20),
        fromReference: differencesFromReference(reader, recompute(lines, facts), facts).slice(0, 20),
      }).toEqual({ dead: [], fromContracts: [], fromReference: [] })
      if (reorgs > 0) expect(lines.some(({ kind }) => kind === 'retract')).toBe(true)
    } finally {
      await place.close()
      await node.revert(opened)
    }
  },
)

const headHash = async () => (await market.node.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).hash

/** The source does not accept a shorter chain at once, so it may miss that moment. */
async function noticed(place: SourcePlace, moment: Moment): Promise<void> {
  const seen = await place.reached(await headHash(), moment === 'shorter' ? 100 : 20_000)
  if (moment !== 'shorter') expect(seen, `${moment} is seen`).toBe(true)
}
