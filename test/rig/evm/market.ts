/**
 * A market of random actions from a seed: trades, liquidity, donations, new pools, several transactions per block by several
 * wallets, and reorgs. The same seed makes the same blocks.
 */
import { createRandom, type Random } from '../market/random.js'
import * as pools from './actions/pools.js'
import * as tokens from './actions/tokens.js'
import * as v2 from './actions/v2.js'
import * as v3 from './actions/v3.js'
import * as v4 from './actions/v4.js'
import type { OpenMarket } from './opening.js'
import { send } from './transactions.js'
import type { Action, Pool, World } from './world.js'

export type Play = {
  seed: number
  /** Minimum number of blocks added to the final chain. */
  blocks: number
  /** Share of rounds with a reorg; 0: none. */
  reorgChance?: number
  maxReorgDepth?: number
  /** The chain pauses until it resolves. Its head is then a block with a trade. */
  seen?: (moment: Moment) => Promise<void>
}

/** A branch about to be orphaned; the first blocks of a new, still shorter branch; any other moment. */
export type Moment = 'branch' | 'shorter' | 'pause'

export type Played = { pools: Pool[]; transactions: number; reorgs: number; orphaned: number }

const ACTIONS: readonly (readonly [number, Action])[] = [
  [8, v2.throughRouter],
  [6, v2.pastTheRouter],
  [2, v2.flashSwap],
  [3, v2.add],
  [3, v2.remove],
  [2, v2.gift],
  [1, v2.lonelySync],
  [8, v3.throughRouter],
  [4, v3.swapInPool],
  [3, v3.mintPosition],
  [4, v3.changePosition],
  [2, v3.mintInPool],
  [3, v3.burnInPool],
  [2, v3.flashLoan],
  [1, v3.protocolFee],
  [8, v4.swap],
  [4, v4.changeLiquidity],
  [1, v4.donate],
  [1, v4.protocolFee],
  [4, tokens.transfer],
  [2, tokens.wrap],
  [1, pools.create],
]
const MOST_DEEDS_A_BLOCK = 6
const NOTICE_CHANCE = 0.1

export async function playMarket(market: OpenMarket, play: Play): Promise<Played> {
  const { node } = market
  const random = createRandom(play.seed)
  const seen = play.seen ?? (async () => {})
  let known: readonly Pool[] = market.pools
  const played = { transactions: 0, reorgs: 0, orphaned: 0 }

  async function block(withTrade = false): Promise<void> {
    const made: Pool[] = []
    if (withTrade) await send(node, v2.surely(market))
    for (let deeds = random.int(0, MOST_DEEDS_A_BLOCK); deeds > 0; deeds--) {
      const world: World = { ...market, random, pools: known }
      const deed = await random.weighted(ACTIONS)(world)
      for (const transaction of deed?.transactions ?? []) {
        await send(node, transaction)
        played.transactions++
      }
      made.push(...(deed?.makes ?? []))
    }
    await node.mine((await headTimeS(market)) + pause(random))
    known = [...known, ...(await onChain(market, made, known))]
  }

  async function branch(blocks: number, moment: Moment | null): Promise<void> {
    for (let remaining = blocks; remaining > 0; remaining--) await block(moment !== null && remaining === 1)
    if (moment !== null) await seen(moment)
  }

  /** Blocks that get orphaned, then their replacements; sometimes fewer at first. */
  async function reorganise(): Promise<number> {
    const depth = random.int(1, play.maxReorgDepth ?? 6)
    const before = { snapshot: await node.snapshot(), known }
    await branch(depth, 'branch')
    await node.revert(before.snapshot)
    known = before.known
    played.reorgs++
    played.orphaned += depth
    const shorter = depth > 1 && random.chance(0.4) ? random.int(1, depth - 1) : 0
    await branch(shorter, shorter > 0 ? 'shorter' : null)
    const longer = depth + random.int(0, 2) - shorter
    await branch(longer, null)
    return shorter + longer
  }

  for (let left = play.blocks; left > 0; ) {
    if (random.chance(play.reorgChance ?? 0.08)) left -= await reorganise()
    else {
      await block()
      left--
    }
    if (random.chance(NOTICE_CHANCE)) await branch(1, 'pause')
  }
  await branch(1, 'pause')
  return { ...played, pools: [...known] }
}

/** Mostly seconds; sometimes minutes, so that candles close. */
const pause = (random: Random): number => (random.chance(0.08) ? random.int(30, 900) : random.int(1, 12))

async function headTimeS({ node }: OpenMarket): Promise<number> {
  const { timestamp } = await node.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])
  return Number(timestamp)
}

async function onChain(market: OpenMarket, made: readonly Pool[], known: readonly Pool[]): Promise<Pool[]> {
  const there: Pool[] = []
  const isKnown = (pool: Pool) => [...known, ...there].some((other) => placeOf(other) === placeOf(pool))
  for (const plan of made) {
    const pool = await pools.located(market.node, market, plan)
    if (pool !== null && !isKnown(pool)) there.push(pool)
  }
  return there
}

export const placeOf = (pool: Pool): string => (pool.kind === 'v4' ? pool.id : pool.address)
