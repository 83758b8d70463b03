/** The reader with a real node: blocks, logs, senders, calls and heads equal those of the node. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../../../services/core/runtime/logger.js'
import type { CheckedBlock, Header, LogFilter } from '../../../../../services/ingest/sources/evm/chain-reader.js'
import { createChainReader, type RpcChainReader } from '../../../../../services/ingest/sources/evm/rpc/evm-reader.js'
import { bloomBits, isInBloom } from '../../../../../services/ingest/sources/evm/rpc/log-filter.js'
import { call, hashOfText } from '../../../../rig/evm/abi.js'
import { playMarket } from '../../../../rig/evm/market.js'
import { type EvmNode, startNode } from '../../../../rig/evm/node.js'
import { type OpenMarket, openMarket } from '../../../../rig/evm/opening.js'

type WireLog = { blockNumber: string; logIndex: string; address: string; topics: string[]; data: string }
type WireBlock = { number: string; hash: string; parentHash: string; timestamp: string; transactions: string[] }

const CHAIN_ID = 8453
const SWAPS: LogFilter = {
  addresses: [],
  topics: [
    hashOfText('Swap(address,uint256,uint256,uint256,uint256,address)'),
    hashOfText('Swap(address,address,int256,int256,uint160,uint128,int24)'),
    hashOfText('Sync(uint112,uint112)'),
  ],
}
const EVERYTHING: LogFilter = { addresses: [], topics: [] }

let node: EvmNode
let market: OpenMarket
const readers: RpcChainReader[] = []
const { signal } = new AbortController()

function readerOf(options: { urls?: string[]; chainId?: number; maxRps?: number } = {}): RpcChainReader {
  const { urls = [node.url], chainId = CHAIN_ID, maxRps } = options
  const reader = createChainReader({
    chain: 'base',
    chainId,
    urls,
    logger: silentLogger,
    ...(maxRps === undefined ? {} : { maxRps }),
  })
  readers.push(reader)
  return reader
}

async function headOfNode(): Promise<Header> {
  const { number, hash, parentHash, timestamp } = await node.rpc<WireBlock>('eth_getBlockByNumber', ['latest', false])
  return { number: Number(number), hash, parentHash, timeS: Number(timestamp) }
}

const logsOfNode = (filter: LogFilter, from: number, to: number) =>
  node.rpc<WireLog[]>('eth_getLogs', [
    {
      fromBlock: `0x${from.toString(16)}`,
      toBlock: `0x${to.toString(16)}`,
      ...(filter.addresses.length === 0 ? {} : { address: filter.addresses }),
      topics: filter.topics.length === 0 ? [] : [filter.topics],
    },
  ])

const brief = (log: { blockNumber: string | number; logIndex: string | number; address: string; data: string }) =>
  [Number(log.blockNumber), Number(log.logIndex), log.address.toLowerCase(), log.data] as const

beforeAll(async () => {
  node = await startNode({ chainId: CHAIN_ID, genesisTimeS: 1_700_000_000 })
  market = await openMarket(node)
  await playMarket(market, { seed: 7, blocks: 40 })
})
afterAll(async () => {
  for (const reader of readers) await reader.close()
  await node?.stop()
})

describe.each([
  ['http', () => node.url],
  ['ws', () => node.wsUrl],
])('over %s', (_, url) => {
  test.each([
    ['all logs', () => EVERYTHING],
    ['some topics', () => SWAPS],
    [
      'some addresses',
      () => ({
        addresses: market.pools.flatMap((pool) => ('address' in pool ? [pool.address] : [])).slice(0, 3),
        topics: [],
      }),
    ],
  ])('blocks with %s equal those of the node', async (_name, filterOf) => {
    const reader = readerOf({ urls: [url()] })
    await reader.start(signal)
    const head = await headOfNode()
    const filter = filterOf()
    const blocks = await reader.blocks(1, head.number, filter, signal)
    expect(blocks.map(({ number }) => number)).toEqual(Array.from({ length: head.number }, (_, place) => place + 1))
    const { logs, ...last } = blocks.at(-1) ?? { logs: [] }
    expect(last).toEqual(head)
    expect(logs.every(({ blockHash }) => blockHash === head.hash)).toBe(true)
    const fromNode = await logsOfNode(filter, 1, head.number)
    expect(fromNode.length).toBeGreaterThan(10)
    expect(blocks.flatMap((block) => block.logs.map(brief))).toEqual(fromNode.map(brief))
    const middle = blocks[Math.floor(blocks.length / 2)]
    expect(await reader.block(middle?.hash ?? '', filter, signal)).toEqual(middle)
    expect(reader.status()[0]).toMatchObject({ healthy: true, reason: null, errors: {} })
  })

  test('reads senders of few and of many transactions in a block', async () => {
    const reader = readerOf({ urls: [url()] })
    const head = await headOfNode()
    const blocks = await reader.blocks(1, head.number, EVERYTHING, signal)
    const wanted = blocks.map((block) => ({ block, txHashes: [...new Set(block.logs.map(({ txHash }) => txHash))] }))
    const hashes = wanted.flatMap(({ txHashes }) => txHashes)
    const fromNode = await node.batch<{ from: string }>(
      hashes.map((hash) => ['eth_getTransactionByHash', [hash]] as const),
    )
    const expected = new Map(hashes.map((hash, place) => [hash, fromNode[place]?.from.toLowerCase()]))
    expect(await reader.senders(wanted, signal)).toEqual(expected)
    const fewer = wanted.map(({ block, txHashes }) => ({ block, txHashes: txHashes.slice(0, 1) }))
    const some = await readerOf({ urls: [url()] }).senders(fewer, signal)
    expect([...some]).toEqual(fewer.flatMap(({ txHashes }) => txHashes.map((hash) => [hash, expected.get(hash)])))
  })

  test('reads senders with the block if most of its transactions are wanted', async () => {
    const reader = readerOf({ urls: [url()] })
    const head = await headOfNode()
    const wantedOf = (blocks: CheckedBlock[]) =>
      blocks.map((block) => ({ block, txHashes: [...new Set(block.logs.map(({ txHash }) => txHash))] }))
    const requests = () => reader.status()[0]?.requests ?? 0
    const first = await reader.blocks(1, head.number, EVERYTHING, signal)
    // Whole blocks are the default until a method was measured.
    const again = await reader.blocks(head.number - 20, head.number, EVERYTHING, signal)
    expect(again).toEqual(first.slice(-21))
    const before = requests()
    const found = await reader.senders(wantedOf(again), signal)
    expect(requests()).toBe(before)
    expect(found).toEqual(await readerOf({ urls: [url()] }).senders(wantedOf(again), signal))
    // Each sender is cached for one read; a second one asks the node.
    expect(await reader.senders(wantedOf(again), signal)).toEqual(found)
    expect(requests()).toBeGreaterThan(before)
  })

  test('makes calls at a block and answers in request order', async () => {
    const reader = readerOf({ urls: [url()] })
    const head = await headOfNode()
    const earlier = await reader.headerByNumber(head.number - 20, signal)
    const { tokens } = market.contracts
    const addresses = Object.values(tokens).map((token) => (typeof token === 'string' ? token : token.address))
    const noContract = `0x${'12'.repeat(20)}`
    const calls = addresses.flatMap((to) => [
      { to, data: call('totalSupply()') },
      { to, data: call('nothingOfThatName()') },
      { to, data: call('symbol()') },
      { to: noContract, data: call('symbol()') },
      { to, data: call('balanceOf(address)', market.wallets[0] ?? '') },
    ])
    for (const at of [head, earlier as Header]) {
      const before = reader.status()[0]?.requests ?? 0
      const answers = await reader.call([...calls, ...calls, ...calls], at, signal)
      expect((reader.status()[0]?.requests ?? 0) - before).toBe(Math.ceil((calls.length * 3) / 64))
      const alone = await Promise.all(
        calls.map((one) =>
          node.rpc<string>('eth_call', [one, `0x${at.number.toString(16)}`]).then(
            (result) => (result === '0x' ? null : result),
            () => null,
          ),
        ),
      )
      expect(answers).toEqual([...alone, ...alone, ...alone])
      expect(alone.filter((answer) => answer !== null).length).toBeGreaterThan(addresses.length * 2 - 1)
    }
  })

  test('yields heads as they are mined, and a lower head after a reorg', async () => {
    const reader = readerOf({ urls: [url()] })
    const stop = new AbortController()
    const heads = reader.heads(stop.signal)
    const next = async () => (await heads.next()).value as Header
    expect(await next()).toEqual(await headOfNode())
    const before = await node.snapshot()
    await node.mine()
    await node.mine()
    const two = await headOfNode()
    let seen = await next()
    while (seen.number < two.number) seen = await next()
    expect(seen).toEqual(two)
    await node.revert(before)
    await node.mine((await headOfNode()).timeS + 7)
    const other = await headOfNode()
    expect(other.number).toBe(two.number - 1)
    seen = await next()
    while (seen.hash !== other.hash) seen = await next()
    stop.abort()
    expect((await heads.next()).done).toBe(true)
  })
})

test('the node’s blooms contain every log’s address and topics, and little else', async () => {
  const reader = readerOf()
  const head = await headOfNode()
  const blocks = await reader.blocks(head.number - 30, head.number, EVERYTHING, signal)
  const wire = await node.batch<{ logsBloom: string }>(
    blocks.map(({ hash }) => ['eth_getBlockByHash', [hash, false]] as const),
  )
  const others = Array.from({ length: 50 }, (_, place) => `0x${place.toString(16).padStart(40, '0')}`)
  for (const [place, { logs }] of blocks.entries()) {
    const bloom = wire[place]?.logsBloom ?? ''
    const items = logs.flatMap(({ address, topics }) => [address, ...topics])
    expect(items.filter((item) => !isInBloom(bloom, bloomBits(item)))).toEqual([])
    expect(others.filter((item) => isInBloom(bloom, bloomBits(item))).length).toBeLessThan(5)
  }
})

test('a call that uses up its gas does not affect the others', async () => {
  const reader = readerOf()
  const head = await headOfNode()
  const burner = `0x${'66'.repeat(20)}`
  await node.rpc('anvil_setCode', [burner, '0x5b600056'])
  const token = { to: market.contracts.tokens.usdc.address, data: call('decimals()') }
  const answers = await reader.call([token, { to: burner, data: '0x' }, token], head, signal)
  expect(answers).toEqual([`0x${'6'.padStart(64, '0')}`, null, `0x${'6'.padStart(64, '0')}`])
})

test('reads answers of any length', async () => {
  const reader = readerOf()
  const head = await headOfNode()
  // Returns as many zeros as its first word says.
  const zeros = `0x${'77'.repeat(20)}`
  await node.rpc('anvil_setCode', [zeros, '0x6000356000f3'])
  const lengths = [1, 0, 31, 6144, 6145, 20_000, 5000, 5000, 5000, 5000, 5000, 33]
  const calls = lengths.map((length) => ({ to: zeros, data: `0x${length.toString(16).padStart(64, '0')}` }))
  const answers = await reader.call(calls, head, signal)
  expect(answers.map((answer) => (answer === null ? 0 : (answer.length - 2) / 2))).toEqual(lengths)
})

test('an unknown block is null, and its logs, senders and calls are retryable errors', async () => {
  const reader = readerOf()
  const head = await headOfNode()
  const gone = { ...head, hash: `0x${'ab'.repeat(32)}` }
  expect(await reader.headerByHash(gone.hash, signal)).toBe(null)
  expect(await reader.headerByNumber(head.number + 1000, signal)).toBe(null)
  await expect(reader.block(gone.hash, SWAPS, signal)).rejects.toMatchObject({ code: 'node_lags', retry: true })
  const call0 = { to: market.contracts.tokens.usdc.address, data: call('decimals()') }
  await expect(reader.call([call0, call0], gone, signal)).rejects.toMatchObject({ code: 'node_lags', retry: true })
}, 30_000)

test('reports an endpoint of another chain as a configuration error, with its host and both chains', async () => {
  await expect(readerOf({ chainId: 1 }).start(signal)).rejects.toMatchObject({
    name: 'ConfigError',
    message: expect.stringMatching(/127\.0\.0\.1:\d+.*chain base.*expected chain id 1; got chain id 8453/),
  })
})

test('works with an endpoint down as long as another answers', async () => {
  const dead = 'http://127.0.0.1:9/secret-path-of-a-key'
  const reader = readerOf({ urls: [dead, node.url] })
  await reader.start(signal)
  const head = await headOfNode()
  expect(await reader.head(signal)).toEqual(head)
  expect(await reader.blocks(head.number - 5, head.number, SWAPS, signal)).toHaveLength(6)
  await expect(readerOf({ urls: [dead] }).start(signal)).rejects.toMatchObject({
    code: 'no_node_answers',
    retry: true,
    message: expect.not.stringContaining('secret-path'),
  })
})

test('ends an aborted request at once', async () => {
  const stop = new AbortController()
  const reader = readerOf({ urls: ['http://127.0.0.1:9'] })
  const asked = reader.blocks(1, 5, SWAPS, stop.signal)
  stop.abort()
  await expect(asked).rejects.toThrow()
})

test('respects the chain’s request limit', async () => {
  const reader = readerOf({ maxRps: 20 })
  const head = await headOfNode()
  const startedMs = performance.now()
  await reader.blocks(head.number - 49, head.number, SWAPS, signal)
  const s = (performance.now() - startedMs) / 1000
  const { requests } = reader.status()[0] ?? { requests: 0 }
  expect(requests).toBeGreaterThan(50)
  expect(requests).toBeLessThanOrEqual(20 * (Math.floor(s) + 1))
})

test('reads the finalized block by its tag', async () => {
  const reader = readerOf()
  const fromNode = await node.rpc<WireBlock>('eth_getBlockByNumber', ['finalized', false])
  expect(await reader.finalized(signal)).toBe(Number(fromNode.number))
})
