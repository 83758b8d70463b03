/** The market covers what other tests rely on: every action occurs, most succeed, and a seed repeats the same chain. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashOfText } from '../rig/evm/abi.js'
import { playMarket } from '../rig/evm/market.js'
import { type EvmNode, type RpcCall, startNode } from '../rig/evm/node.js'
import { type OpenMarket, openMarket } from '../rig/evm/opening.js'
import type { Receipt } from '../rig/evm/transactions.js'
import { type ChainLog, truth } from '../rig/evm/truth.js'

let node: EvmNode
let market: OpenMarket
beforeAll(async () => {
  node = await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 })
  market = await openMarket(node)
})
afterAll(() => node?.stop())

const headHash = async () => (await node.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).hash

test('a seed repeats the same chain, another seed makes another', async () => {
  const heads: string[] = []
  for (const seed of [1, 1, 2]) {
    const opened = await node.snapshot()
    await playMarket(market, { seed, blocks: 20, reorgChance: 0.2 })
    heads.push(await headHash())
    await node.revert(opened)
  }
  expect(heads[1]).toBe(heads[0])
  expect(heads[2]).not.toBe(heads[0])
})

const EVENTS = {
  'uniswap v2': [
    'PairCreated(address,address,address,uint256)',
    'Swap(address,uint256,uint256,uint256,uint256,address)',
    'Sync(uint112,uint112)',
    'Mint(address,uint256,uint256)',
    'Burn(address,uint256,uint256,address)',
  ],
  'uniswap v3': [
    'PoolCreated(address,address,uint24,int24,address)',
    'Initialize(uint160,int24)',
    'Swap(address,address,int256,int256,uint160,uint128,int24)',
    'Mint(address,address,int24,int24,uint128,uint256,uint256)',
    'Burn(address,int24,int24,uint128,uint256,uint256)',
    'Collect(address,address,int24,int24,uint128,uint128)',
    'Flash(address,address,uint256,uint256,uint256,uint256)',
    'CollectProtocol(address,address,uint128,uint128)',
  ],
  'pancake v3': ['Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)'],
  'uniswap v4': [
    'Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)',
    'Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)',
    'ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)',
    'Donate(bytes32,address,uint256,uint256)',
  ],
  tokens: ['Transfer(address,address,uint256)', 'Deposit(address,uint256)', 'Withdrawal(address,uint256)'],
}

test('every action occurs, and few fail', async () => {
  const opened = await node.snapshot()
  const from = Number(await node.rpc('eth_blockNumber')) + 1
  const { pools, reorgs } = await playMarket(market, { seed: 7, blocks: 150, reorgChance: 0.03 })
  const { headNumber, swaps } = await truth(market, pools)
  const fromBlock = `0x${from.toString(16)}`
  const logs = await node.rpc<ChainLog[]>('eth_getLogs', [{ fromBlock, toBlock: 'latest' }])
  const counts = new Map<string, number>()
  for (const { topics } of logs) counts.set(topics[0] ?? '', (counts.get(topics[0] ?? '') ?? 0) + 1)
  const missing = Object.values(EVENTS)
    .flat()
    .filter((event) => !counts.has(hashOfText(event)))
  expect(missing).toEqual([])
  expect(reorgs).toBeGreaterThan(0)
  expect(pools.filter(({ kind, ...pool }) => !swaps.has('id' in pool ? pool.id : pool.address)).length).toBeLessThan(6)

  const blocks = Array.from({ length: headNumber - from + 1 }, (_, at) => `0x${(from + at).toString(16)}`)
  const full = await node.batch<{ transactions: string[] }>(
    blocks.map((number): RpcCall => ['eth_getBlockByNumber', [number, false]]),
  )
  const sent = full.flatMap(({ transactions }) => transactions)
  const receipts = await node.batch<Receipt>(sent.map((hash): RpcCall => ['eth_getTransactionReceipt', [hash]]))
  const failed = receipts.filter(({ status }) => status !== '0x1').length
  expect(failed / receipts.length).toBeLessThan(0.15)
  await node.revert(opened)
})
