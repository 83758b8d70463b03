/** The market does what the tests of reading rely on: everything happens, most of it works, and a seed makes the same chain again. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { playMarket } from '../rig/evm/market.js'
import { type EvmNode, startNode } from '../rig/evm/node.js'
import { type OpenMarket, openMarket } from '../rig/evm/opening.js'
import { truth } from '../rig/evm/truth.js'

let node: EvmNode
let market: OpenMarket
beforeAll(async () => {
  node = await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 })
  console.time('open')
  market = await openMarket(node)
  console.timeEnd('open')
})
afterAll(() => node?.stop())

const headHash = async () => (await node.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).hash

test('a seed makes the same chain again, another seed another', async () => {
  const heads: string[] = []
  for (const seed of [1, 1, 2]) {
    const opened = await node.snapshot()
    console.time('play')
    const played = await playMarket(market, { seed, blocks: 60 })
    console.timeEnd('play')
    console.time('truth')
    const t = await truth(market, played.pools)
    console.timeEnd('truth')
    console.log(
      { ...played, pools: played.pools.length },
      t.headNumber,
      [...t.swaps.values()].flat().length,
      t.pools.slice(0, 3),
      t.pools.slice(-3),
    )
    heads.push(await headHash())
    await node.revert(opened)
  }
  expect(heads[1]).toBe(heads[0])
  expect(heads[2]).not.toBe(heads[0])
})
