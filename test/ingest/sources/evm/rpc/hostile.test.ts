/** The reader with nodes that fail, lie, lag and throttle: it still returns the chain's data. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { isRetryable } from '../../../../../services/core/runtime/backoff.js'
import { silentLogger } from '../../../../../services/core/runtime/logger.js'
import type { CheckedBlock, LogFilter } from '../../../../../services/ingest/sources/evm/chain-reader.js'
import { createChainReader, type RpcChainReader } from '../../../../../services/ingest/sources/evm/rpc/evm-reader.js'
import { seedsOf } from '../../../../rig/counts.js'
import { call, hashOfText } from '../../../../rig/evm/abi.js'
import { startHostileNode } from '../../../../rig/evm/hostile-node.js'
import { startLimiter } from '../../../../rig/evm/limiter.js'
import { playMarket } from '../../../../rig/evm/market.js'
import { type EvmNode, startNode } from '../../../../rig/evm/node.js'
import { type OpenMarket, openMarket } from '../../../../rig/evm/opening.js'

const CHAIN_ID = 8453
const FILTER: LogFilter = {
  addresses: [],
  topics: [
    hashOfText('Swap(address,uint256,uint256,uint256,uint256,address)'),
    hashOfText('Swap(address,address,int256,int256,uint160,uint128,int24)'),
    hashOfText('Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)'),
    hashOfText('Sync(uint112,uint112)'),
  ],
}
const { signal } = new AbortController()

let node: EvmNode
let market: OpenMarket
let head: number
const ends: (() => Promise<void>)[] = []

beforeAll(async () => {
  node = await startNode({ chainId: CHAIN_ID, genesisTimeS: 1_700_000_000 })
  market = await openMarket(node)
  await playMarket(market, { seed: 11, blocks: 60 })
  head = Number(await node.rpc<string>('eth_blockNumber'))
})
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})
afterAll(() => node?.stop())

function readerOf(...urls: string[]): RpcChainReader {
  const reader = createChainReader({ chain: 'base', chainId: CHAIN_ID, urls, timeoutMs: 400, logger: silentLogger })
  ends.push(() => reader.close())
  return reader
}

async function hostile(seed: number, more: { errorChance?: number; lieChance?: number } = {}) {
  const proxy = await startHostileNode(node, { seed, silenceMs: 500, errorChance: 0.08, lieChance: 0.08, ...more })
  ends.push(() => proxy.stop())
  return proxy
}

/** The chain's data, read directly from the node. */
async function truth(from: number, to: number): Promise<CheckedBlock[]> {
  const reader = readerOf(node.url)
  return reader.blocks(from, to, FILTER, signal)
}

/** Retries like chain following: six lost sockets in a row are a retryable error. */
async function persistently<T>(ask: () => Promise<T>): Promise<T> {
  for (let retriesLeft = 5; ; retriesLeft--) {
    try {
      return await ask()
    } catch (error) {
      if (retriesLeft === 0 || !isRetryable(error)) throw error
    }
  }
}

async function readAll(reader: RpcChainReader, from: number, to: number, step: number): Promise<CheckedBlock[]> {
  const blocks: CheckedBlock[] = []
  for (let first = from; first <= to; first += step)
    blocks.push(...(await persistently(() => reader.blocks(first, Math.min(to, first + step - 1), FILTER, signal))))
  return blocks
}

// Odd seeds read over WebSocket, even ones over HTTP.
test.each(seedsOf('evmReaderSeeds'))(
  'seed %i: blocks, senders, calls and single blocks equal the chain’s',
  async (seed) => {
    const expected = await truth(1, head)
    const proxy = await hostile(seed)
    const reader = readerOf(seed % 2 === 0 ? proxy.url : proxy.wsUrl)
    const blocks = await readAll(reader, 1, head, 17)
    expect(blocks).toEqual(expected)
    const wanted = expected.map((block) => ({ block, txHashes: [...new Set(block.logs.map(({ txHash }) => txHash))] }))
    expect(await persistently(() => reader.senders(wanted, signal))).toEqual(
      await readerOf(node.url).senders(wanted, signal),
    )
    for (const block of expected.slice(-10))
      expect(await persistently(() => reader.block(block.hash, FILTER, signal))).toEqual(block)
    const calls = Object.values(market.contracts.tokens).map(({ address }) => ({ to: address, data: call('symbol()') }))
    const at = expected.at(-5) as CheckedBlock
    expect(await persistently(() => reader.call(calls, at, signal))).toEqual(
      await readerOf(node.url).call(calls, at, signal),
    )
    expect((await persistently(() => reader.head(signal))).number).toBeLessThanOrEqual(head)
    expect(proxy.errors + proxy.lies).toBeGreaterThan(3)
  },
  60_000,
)

test('reads through two hostile endpoints and one that is down', async () => {
  const expected = await truth(1, head)
  const [one, other] = [await hostile(21), await hostile(22)]
  const reader = readerOf(one.url, 'http://127.0.0.1:9', other.url)
  await reader.start(signal)
  expect(await readAll(reader, 1, head, 23)).toEqual(expected)
  expect(one.requests).toBeGreaterThan(0)
  expect(other.requests).toBeGreaterThan(0)
}, 60_000)

test.each(seedsOf('evmReaderSeeds').map((seed) => 30 + seed))(
  'seed %i: a reorg in the middle of a range',
  async (seed) => {
    const before = await node.snapshot()
    await playMarket(market, { seed, blocks: 12 })
    const proxy = await hostile(seed, { errorChance: 0, lieChance: 0 })
    const reader = readerOf(proxy.url)
    const to = head + 10
    // From a request in the middle on, it sees another branch of the same length.
    proxy.after(35 + (seed % 3), async () => {
      await node.revert(before)
      await playMarket(market, { seed: seed + 100, blocks: 12 })
    })
    const blocks = await readAll(reader, head - 30, to, 14)
    const expected = await truth(head - 30, to)
    // Ranges read earlier are of the old branch, the last are of the new one, and none mixes both.
    expect(blocks.at(-1)).toEqual(expected.at(-1))
    for (let first = 0; first < blocks.length; first += 14)
      for (const [place, block] of blocks.slice(first, first + 14).entries())
        if (place > 0) expect(block.parentHash).toBe(blocks[first + place - 1]?.hash)
    await node.revert(await node.snapshot())
  },
  60_000,
)

test('stays within ten requests per second and ten blocks per range once the provider’s limits are known', async () => {
  const limiter = await startLimiter(node, { requestsPerS: 10, maxBlocks: 10 })
  ends.push(() => limiter.stop())
  const reader = createChainReader({
    chain: 'base',
    chainId: CHAIN_ID,
    urls: [limiter.url],
    maxRps: 10,
    logger: silentLogger,
  })
  ends.push(() => reader.close())
  const from = head - 24
  expect(await reader.blocks(from, head, FILTER, signal)).toEqual(await truth(from, head))
  expect(limiter.refused).toBe(0)
  expect(reader.status()[0]).toMatchObject({ range: 10, healthy: true, errors: { too_wide: 1 } })
}, 60_000)

test('finds and respects a provider’s undocumented rate limit', async () => {
  const limiter = await startLimiter(node, { requestsPerS: 25, maxBlocks: 1000 })
  ends.push(() => limiter.stop())
  const reader = readerOf(limiter.url)
  const from = head - 39
  expect(await reader.blocks(from, head, FILTER, signal)).toEqual(await truth(from, head))
  expect(limiter.refused).toBeGreaterThan(0)
  const refused = limiter.refused
  expect(await reader.blocks(from, head, FILTER, signal)).toEqual(await truth(from, head))
  expect(limiter.refused - refused).toBeLessThan(refused)
  expect(reader.status()[0]?.healthy).toBe(true)
}, 60_000)
