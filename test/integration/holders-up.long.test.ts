/** All holders of a token, asked for while the server runs on a real chain that trades. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { word } from '../rig/evm/abi.js'
import { knownContracts } from '../rig/evm/contracts.js'
import { playMarket } from '../rig/evm/market.js'
import { type EvmNode, startNode } from '../rig/evm/node.js'
import { openMarket } from '../rig/evm/opening.js'
import { chainFactsOf } from '../rig/evm/source-run.js'
import { lookAt } from '../rig/evm/transactions.js'
import { removeScratchFolders, runCommand, scratchFolder } from '../rig/http/command.js'
import { environmentOf, startUp, type UpPlan } from '../rig/http/up.js'

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

let node: EvmNode
beforeAll(async () => {
  node = await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 })
})
afterAll(async () => {
  await node?.stop()
  removeScratchFolders()
})

type Holder = { holder: string; amount_cur: number; holders_complete_since: number | null }

/** Everybody with a balance, by the contract itself. */
async function heldOnChain(token: string, decimals: number): Promise<Map<string, number>> {
  const filter = { fromBlock: '0x0', toBlock: 'latest', address: token, topics: [TRANSFER] }
  const logs = await node.rpc<{ topics: string[] }[]>('eth_getLogs', [filter])
  const everybody = new Set(logs.flatMap(({ topics }) => topics.slice(1, 3).map((topic) => `0x${topic.slice(26)}`)))
  const held = new Map<string, number>()
  for (const holder of everybody) {
    const balance = word(await lookAt(node, token, 'balanceOf(address)', holder))
    if (balance > 0n) held.set(holder, Number(balance) / 10 ** decimals)
  }
  return held
}

it('knows all holders after `scope add --holders`, without a restart', async () => {
  const market = await openMarket(node)
  const facts = chainFactsOf(market.contracts)
  const money = [facts.native, facts.anchor, ...facts.stables, ...facts.majors]
  const pool = market.pools.find(
    (one) => one.kind !== 'v4' && ![one.token0, one.token1].every(({ address }) => money.includes(address)),
  )
  if (pool === undefined || pool.kind === 'v4') throw new Error('the market has no such pool')
  const token = [pool.token0, pool.token1].find(({ address }) => !money.includes(address))
  if (token === undefined) throw new Error('the pool has money alone')
  await playMarket(market, { seed: 1, blocks: 30 })
  const start = Number(await node.rpc<string>('eth_blockNumber'))
  const section = { rpc: [node.url], start, pools: [pool.address], finality: 8 }
  const plan: UpPlan = {
    ...{ folder: scratchFolder(), chains: [facts] },
    sections: { base: { ...section, contracts: knownContracts(market.contracts) } },
    settings: { intervals: { flush_ms: 100, checkpoint_ms: 200, progress_s: 1 } },
  }
  const up = await startUp(plan)
  const { DEXTAPE_CONFIG: config = '' } = environmentOf(plan)
  const added = await runCommand(['scope', 'add', '--chain', 'base', '--holders', token.address], {
    ...{ cwd: plan.folder, withinMs: 120_000 },
    env: { DEXTAPE_CONFIG: config, DEXTAPE_DATA_DIR: up.dataDir },
  })
  expect(added).toMatchObject({ code: 0, out: expect.stringContaining(token.address) })
  const top = async () => (await up.get(`/v2/tokens/top100/${token.address}-base`)).body as Holder[]
  const playOn = async () => {
    await playMarket(market, { seed: 2, blocks: 10 })
    return (await top())[0]?.holders_complete_since ?? null
  }
  await expect.poll(playOn, { timeout: 60_000 }).not.toBeNull()

  await playMarket(market, { seed: 3, blocks: 20 })
  const held = await heldOnChain(token.address, token.decimals ?? 0)
  const served = async () => new Map((await top()).map(({ holder, amount_cur }) => [holder, amount_cur]))
  await expect.poll(async () => [...(await served())].sort(), { timeout: 20_000 }).toEqual([...held].sort())
  console.log(`${held.size} holders, all as the contract has them`)
  expect((await up.stop()).code).toBe(0)
})
