/** A market on a local chain that `up` reads while it trades: one chain for the tests of a file. */
import { afterAll, beforeAll } from 'vitest'
import { removeScratchFolders, runCommand, scratchFolder } from '../http/command.js'
import { environmentOf, type Up, type UpPlan } from '../http/up.js'
import { knownContracts } from './contracts.js'
import { type EvmNode, startNode } from './node.js'
import type { OpenMarket } from './opening.js'
import { chainFactsOf } from './source-run.js'

/** To be called in a test: before, there is no chain. */
export function chainForTests(): () => EvmNode {
  let node: EvmNode | undefined
  beforeAll(async () => {
    node = await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 })
  })
  afterAll(async () => {
    await node?.stop()
    removeScratchFolders()
  })
  return () => {
    if (node === undefined) throw new Error('the chain is not started yet')
    return node
  }
}

export const headOf = async (node: EvmNode): Promise<number> => Number(await node.rpc<string>('eth_blockNumber'))

/** `section`: what the chain's configuration has besides the market's node and contracts. */
export function planOf({ node, contracts }: OpenMarket, section: object): UpPlan {
  return {
    ...{ folder: scratchFolder(), chains: [chainFactsOf(contracts)] },
    sections: { base: { rpc: [node.url], ...section, contracts: knownContracts(contracts) } },
    settings: { intervals: { flush_ms: 100, checkpoint_ms: 200, progress_s: 1 } },
  }
}

/** Pools with a contract of their own, and a token in each that is no money; others are read for prices in USD, whatever the scope is. */
export function scopedPools({ contracts, pools }: OpenMarket) {
  const { native, anchor, stables, majors } = chainFactsOf(contracts)
  const money = [native, anchor, ...stables, ...majors]
  return pools.flatMap((pool) => {
    const token = [pool.token0, pool.token1].find(({ address }) => !money.includes(address))
    return pool.kind === 'v4' || token === undefined ? [] : [{ pool: pool.address, token }]
  })
}

/** `dextape scope` for a running server. To be called before the first change, which writes the file. */
export function scopeOf(plan: UpPlan, { dataDir }: Pick<Up, 'dataDir'>, chain = 'base') {
  const { DEXTAPE_CONFIG: config = '' } = environmentOf(plan)
  return (...args: string[]) =>
    runCommand(['scope', ...args, '--chain', chain], {
      ...{ cwd: plan.folder, withinMs: 120_000 },
      env: { DEXTAPE_CONFIG: config, DEXTAPE_DATA_DIR: dataDir },
    })
}
