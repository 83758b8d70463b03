/** The local node has what tests rely on: blocks on demand, reverting, and a clean stop. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EvmNode, startNode } from '../rig/evm/node.js'

let node: EvmNode
beforeAll(async () => {
  node = await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 })
})
afterAll(() => node?.stop())

type Header = { number: string; hash: string; parentHash: string; timestamp: string }
const header = (tag: string): Promise<Header> => node.rpc<Header>('eth_getBlockByNumber', [tag, false])

test('a block has the given time, and another replaces it after a revert', async () => {
  expect(Number(await node.rpc('eth_chainId'))).toBe(8453)
  const before = await node.snapshot()
  await node.mine(1_700_000_100)
  const first = await header('latest')
  expect([Number(first.number), Number(first.timestamp)]).toEqual([1, 1_700_000_100])
  await node.revert(before)
  expect(Number(await node.rpc('eth_blockNumber'))).toBe(0)
  await node.mine(1_700_000_101)
  const second = await header('latest')
  expect(second.parentHash).toBe(first.parentHash)
  expect(second.hash).not.toBe(first.hash)
})

test('mines several transactions into one block in the order they came', async () => {
  await node.rpc('evm_setAutomine', [false])
  const [from, to] = [node.accounts[3], node.accounts[1]]
  const hashes: string[] = []
  for (const value of ['0x1', '0x2', '0x3']) {
    hashes.push(await node.rpc('eth_sendTransaction', [{ from, to, value, gas: '0x5208', gasPrice: '0x1' }]))
  }
  await node.mine()
  const { transactions } = await node.rpc<{ transactions: string[] }>('eth_getBlockByNumber', ['latest', false])
  expect(transactions).toEqual(hashes)
})

test('a stopped node leaves nothing behind', async () => {
  const other = await startNode({ chainId: 1 })
  await other.stop()
  expect(() => process.kill(other.pid, 0)).toThrow('ESRCH')
})
