/** The scope of a running server, changed on a real chain while it trades: nothing restarts, and history is read behind. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { knownContracts } from '../rig/evm/contracts.js'
import { playMarket } from '../rig/evm/market.js'
import { type EvmNode, startNode } from '../rig/evm/node.js'
import { openMarket } from '../rig/evm/opening.js'
import { chainFactsOf } from '../rig/evm/source-run.js'
import { removeScratchFolders, runCommand, scratchFolder } from '../rig/http/command.js'
import { environmentOf, KEY, startUp, type Up, type UpPlan } from '../rig/http/up.js'
import { connect } from '../serve/push-client.js'

let node: EvmNode
beforeAll(async () => {
  node = await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 })
})
afterAll(async () => {
  await node?.stop()
  removeScratchFolders()
})

const head = async () => Number(await node.rpc<string>('eth_blockNumber'))
const isKnown = async (up: Up, pool: string) =>
  ((await up.get(`/v2/pairs/${pool}-base`)).body as { data: unknown }).data !== null
const swapsOf = async (up: Up, pool: string) => {
  const { body } = await up.get(`/v2/txs/swap/${pool}-base?limit=300`)
  return (body as { data: { txs: { block_number: number }[] } }).data.txs.map(({ block_number: block }) => block)
}

it('reads an added pool from then on, its history with --history, and a removed one no longer', async () => {
  const market = await openMarket(node)
  const facts = chainFactsOf(market.contracts)
  const money = [facts.native, facts.anchor, ...facts.stables, ...facts.majors]
  // Pools of two money tokens are read for prices in USD, whatever the scope is.
  const [first = '', second = ''] = market.pools.flatMap((pool) =>
    pool.kind === 'v4' || [pool.token0, pool.token1].every(({ address }) => money.includes(address))
      ? []
      : [pool.address],
  )
  const late = await head()
  const section = { rpc: [node.url], start: late, pools: [first], finality: 64 }
  const plan: UpPlan = {
    ...{ folder: scratchFolder(), chains: [facts] },
    sections: { base: { ...section, contracts: knownContracts(market.contracts) } },
    settings: { intervals: { flush_ms: 100, checkpoint_ms: 200, progress_s: 1 } },
  }
  const up = await startUp(plan)
  // Before the first change: it writes the file.
  const { DEXTAPE_CONFIG: config = '' } = environmentOf(plan)
  const scope = (...args: string[]) =>
    runCommand(['scope', ...args, '--chain', 'base'], {
      ...{ cwd: plan.folder, withinMs: 120_000 },
      env: { DEXTAPE_CONFIG: config, DEXTAPE_DATA_DIR: up.dataDir },
    })
  const client = await connect(up.wsUrl, { 'x-api-key': KEY })
  await client.call('subscribe', ['tx', '*', 'base'])
  /** Plays on until it is so. */
  const until = async (seed: number, isSo: () => Promise<boolean>) => {
    const playOn = async () => {
      await playMarket(market, { seed, blocks: 10 })
      return isSo()
    }
    await expect.poll(playOn, { timeout: 60_000 }).toBe(true)
  }
  const isSwapped = (pool: string, after: number) => async () => (await swapsOf(up, pool)).some((at) => at > after)

  await until(1, isSwapped(first, late))
  expect(await isKnown(up, second)).toBe(false)

  // Blocks that had nothing in the scope are read again with the new one.
  const added = (await up.status())[0]?.head ?? 0
  expect(await scope('add', '--pool', second)).toMatchObject({ code: 0, out: expect.stringContaining(second) })
  await until(2, isSwapped(second, added))
  expect(Math.min(...(await swapsOf(up, second)))).toBeGreaterThan(added)

  const history = await scope('add', '--pool', second, '--history')
  expect({ code: history.code, err: history.code === 0 ? '' : history.err }).toEqual({ code: 0, err: '' })
  await up.until('base', 'epoch 2', ({ epoch }) => epoch === 2)
  await until(3, isSwapped(second, await head()))
  expect(Math.min(...(await swapsOf(up, second)))).toBeLessThanOrEqual(added)

  expect(await scope('remove', '--pool', first)).toMatchObject({ code: 0 })
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  const removed = await head()
  await until(4, isSwapped(second, removed))
  expect(await isSwapped(first, removed)()).toBe(false)

  // The socket outlived it all.
  expect(client.frames.some(({ result }) => result?.topic === 'tx')).toBe(true)
  expect((await client.call('ping')).error).toBeUndefined()
  client.close()
  expect((await up.stop()).code).toBe(0)
})
