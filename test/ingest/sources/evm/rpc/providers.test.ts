/** Providers that deviate from the standard: a refused request is made in another way. Each proxies a real node. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { silentLogger } from '../../../../../services/core/runtime/logger.js'
import type { CheckedBlock, Header, LogFilter } from '../../../../../services/ingest/sources/evm/chain-reader.js'
import {
  type ChainReaderOptions,
  createChainReader,
  type RpcChainReader,
} from '../../../../../services/ingest/sources/evm/rpc/evm-reader.js'
import { readError } from '../../../../../services/ingest/sources/evm/rpc/read-error.js'
import { endpointNames } from '../../../../../services/ingest/sources/nodes/endpoint-name.js'
import { httpTransport } from '../../../../../services/ingest/sources/nodes/http-transport.js'
import { call, hashOfText } from '../../../../rig/evm/abi.js'
import { playMarket } from '../../../../rig/evm/market.js'
import { type EvmNode, startNode } from '../../../../rig/evm/node.js'
import { type OpenMarket, openMarket } from '../../../../rig/evm/opening.js'
import { fault, type RpcAnswer, type RpcRequest, startProxy } from '../../../../rig/evm/proxy.js'

const FILTER: LogFilter = {
  addresses: [],
  topics: [hashOfText('Swap(address,uint256,uint256,uint256,uint256,address)'), hashOfText('Sync(uint112,uint112)')],
}
const { signal } = new AbortController()

let node: EvmNode
let market: OpenMarket
let head: number
let expected: CheckedBlock[]
const ends: (() => Promise<void>)[] = []

beforeAll(async () => {
  node = await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 })
  market = await openMarket(node)
  await playMarket(market, { seed: 5, blocks: 160 })
  head = Number(await node.rpc<string>('eth_blockNumber'))
  expected = await readerOf([node.url]).blocks(head - 40, head, FILTER, signal)
})
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})
afterAll(() => node?.stop())

function readerOf(urls: string[], more: Partial<ChainReaderOptions> = {}): RpcChainReader {
  const patience = { attempts: 4, ms: 5_000 }
  const reader = createChainReader({ chain: 'base', chainId: 8453, urls, patience, logger: silentLogger, ...more })
  ends.push(() => reader.close())
  return reader
}

type Change = (request: RpcRequest, answer: RpcAnswer) => RpcAnswer

/** A node that answers like the real one, except for what is changed. */
async function nodeThat(change: Change): Promise<{ url: string; asked: RpcRequest[] }> {
  const asked: RpcRequest[] = []
  const proxy = await startProxy(node, {
    async pass({ requests, batch }, upstream) {
      asked.push(...requests)
      const answers = await upstream(requests)
      const changed = requests.map((request, place) => change(request, answers[place] as RpcAnswer))
      return { kind: 'answer', body: batch ? changed : changed[0] }
    },
  })
  ends.push(() => proxy.stop())
  return { url: proxy.url, asked }
}

const readRange = (reader: RpcChainReader) => reader.blocks(head - 40, head, FILTER, signal)
const symbols = () =>
  Object.values(market.contracts.tokens).map(({ address }) => ({ to: address, data: call('symbol()') }))
const isTargetless = ({ method, params }: RpcRequest) =>
  method === 'eth_call' && !Object.hasOwn(params?.[0] ?? {}, 'to')

test('calls without a target are refused: makes them one by one, right away after two refusals', async () => {
  const { url, asked } = await nodeThat((request, answer) =>
    isTargetless(request) ? fault(request.id, -32602, 'missing required field to') : answer,
  )
  const reader = readerOf([url])
  const at = expected.at(-1) as Header
  const expectedAnswers = await readerOf([node.url]).call(symbols(), at, signal)
  for (let times = 0; times < 4; times++) expect(await reader.call(symbols(), at, signal)).toEqual(expectedAnswers)
  // Three times, because the first refusal could have been about the block's hash.
  expect(asked.filter(isTargetless)).toHaveLength(3)
})

test('block hashes are refused: calls by number, and verifies the block of that number', async () => {
  const isByHash = ({ method, params }: RpcRequest) => method === 'eth_call' && typeof params?.[1] === 'object'
  const { url, asked } = await nodeThat((request, answer) =>
    isByHash(request) ? fault(request.id, -32602, 'invalid argument 1: json: cannot unmarshal object') : answer,
  )
  const reader = readerOf([url])
  const at = expected.at(-3) as Header
  const expectedAnswers = await readerOf([node.url]).call(symbols(), at, signal)
  expect(await reader.call(symbols(), at, signal)).toEqual(expectedAnswers)
  expect(await reader.call(symbols(), at, signal)).toEqual(expectedAnswers)
  expect(asked.filter(isByHash).length).toBeLessThanOrEqual(2)
  const orphan = { ...at, hash: `0x${'ab'.repeat(32)}` }
  await expect(reader.call(symbols(), orphan, signal)).rejects.toMatchObject({ code: 'node_lags', retry: true })
}, 30_000)

test.each([['missing trie node 12ab (path ) state 0x12ab is not available, not found'], ['header not found']])(
  'state is pruned (%s): reports it with the fix, and asks an archive node if there is one',
  async (message) => {
    const { url } = await nodeThat((request, answer) =>
      request.method === 'eth_call' ? fault(request.id, -32000, message) : answer,
    )
    const reader = readerOf([url])
    await reader.head(signal)
    const at = (await reader.headerByNumber(3, signal)) as Header
    await expect(reader.call(symbols(), at, signal)).rejects.toMatchObject({
      code: 'state_pruned',
      retry: false,
      message: expect.stringContaining('archive node'),
    })
    const both = readerOf([url, node.url])
    await both.head(signal)
    expect(await both.call(symbols(), at, signal)).toEqual(await readerOf([node.url]).call(symbols(), at, signal))
  },
)

test.each(['transaction', 'receipt', 'block'])(
  'reads senders if %s cannot be requested',
  async (what) => {
    const methods: Record<string, string> = {
      transaction: 'eth_getTransactionByHash',
      receipt: 'eth_getTransactionReceipt',
      block: 'eth_getBlockByHash',
    }
    const { url } = await nodeThat((request, answer) =>
      request.method === methods[what] && (what !== 'block' || request.params?.[1] === true)
        ? fault(request.id, -32601, 'the method does not exist/is not available')
        : answer,
    )
    const all = await readerOf([node.url]).blocks(1, head, FILTER, signal)
    const wanted = all.map((block) => ({ block, txHashes: [...new Set(block.logs.map(({ txHash }) => txHash))] }))
    const expectedAnswers = await readerOf([node.url]).senders(wanted, signal)
    const reader = readerOf([url])
    await reader.blocks(1, head, FILTER, signal)
    for (let times = 0; times < 4; times++) expect(await reader.senders(wanted, signal)).toEqual(expectedAnswers)
  },
  30_000,
)

test('a transaction that its block does not list', async () => {
  const block = expected.findLast(({ logs }) => new Set(logs.map(({ txHash }) => txHash)).size > 1) as CheckedBlock
  const txHashes = [...new Set(block.logs.map(({ txHash }) => txHash))]
  const { url, asked } = await nodeThat((request, answer) => {
    if (request.method !== 'eth_getBlockByHash' || request.params?.[1] !== true) return answer
    const { transactions, ...rest } = answer.result as { transactions: { hash: string }[] }
    const listed = transactions.filter(({ hash }) => hash !== txHashes[0])
    return { ...answer, result: { ...rest, transactions: listed } }
  })
  const reader = readerOf([url])
  await reader.block(block.hash, FILTER, signal)
  const expectedAnswers = await readerOf([node.url]).senders([{ block, txHashes }], signal)
  expect(await reader.senders([{ block, txHashes }], signal)).toEqual(expectedAnswers)
  expect(asked.some(({ method, params }) => method === 'eth_getBlockByHash' && params?.[1] === true)).toBe(true)
})

test('accepts blooms that lack the logs if receipts confirm the logs, and reads those receipts once', async () => {
  const zeros = `0x${'0'.repeat(512)}`
  const { url, asked } = await nodeThat((request, answer) =>
    request.method.startsWith('eth_getBlockBy') && answer.result !== null
      ? { ...answer, result: { ...(answer.result as object), logsBloom: zeros } }
      : answer,
  )
  const reader = readerOf([url])
  expect(await readRange(reader)).toEqual(expected)
  const before = asked.filter(({ method }) => method === 'eth_getTransactionReceipt').length
  expect(before).toBeGreaterThan(0)
  expect(await readRange(reader)).toEqual(expected)
  expect(asked.filter(({ method }) => method === 'eth_getTransactionReceipt').length).toBe(before)
})

test('reports a made-up log as a lie, with the name of the node', async () => {
  const { url } = await nodeThat((request, answer) => {
    if (request.method !== 'eth_getLogs' || !Array.isArray(answer.result)) return answer
    const made = answer.result.map((log: object) => ({ ...log, address: `0x${'99'.repeat(20)}` }))
    return { ...answer, result: made }
  })
  const reader = readerOf([url])
  await expect(readRange(reader)).rejects.toMatchObject({
    code: 'node_lies',
    retry: true,
    message: expect.stringMatching(
      /the node 127\.0\.0\.1:\d+ returned inconsistent data .*both the block bloom and its receipt/,
    ),
  })
  expect(reader.status()[0]?.errors.lies).toBeGreaterThan(0)
  // It does no harm next to an honest node.
  expect(await readRange(readerOf([url, node.url]))).toEqual(expected)
}, 30_000)

/** As Reth and Erigon answer for blocks whose receipts they have pruned (paradigmxyz/reth#21122, erigontech/erigon#16042). */
const withoutLogs: Change = (request, answer) => (request.method === 'eth_getLogs' ? { ...answer, result: [] } : answer)

test('names a node that lacks the logs of blocks, and uses another', async () => {
  const { url } = await nodeThat(withoutLogs)
  const reader = readerOf([url])
  await reader.head(signal)
  await expect(reader.blocks(1, 30, FILTER, signal)).rejects.toMatchObject({
    code: 'state_pruned',
    retry: false,
    message: expect.stringMatching(/the node 127\.0\.0\.1:\d+ .*no logs (?:for|before) block.*archive node/),
  })
  for (const urls of [
    [url, node.url],
    [node.url, url],
  ])
    expect(await readRange(readerOf(urls))).toEqual(expected)
})

test.each([1, 2])('reads all logs of a block at the head even if they come late (%i answers without)', async (late) => {
  const block = expected.findLast(({ logs }) => logs.length > 0) as CheckedBlock
  let times = 0
  const { url } = await nodeThat((request, answer) =>
    request.method === 'eth_getLogs' && ++times <= late ? { ...answer, result: [] } : answer,
  )
  expect(await readerOf([url]).block(block.hash, FILTER, signal)).toEqual(block)
})

test('ignores the head of a node behind the others', async () => {
  const behind = `0x${(head - 50).toString(16)}`
  const old = await node.rpc('eth_getBlockByNumber', [behind, false])
  const { url } = await nodeThat((request, answer) => {
    const [block] = (request.params ?? []) as [unknown]
    if (request.method !== 'eth_getBlockByNumber') return answer
    if (block === 'latest') return { ...answer, result: old }
    return Number(block) > Number(behind) ? { ...answer, result: null } : answer
  })
  const reader = readerOf([url, node.url])
  expect((await reader.head(signal)).number).toBe(head)
  expect(reader.status().map(({ healthy, reason }) => [healthy, reason])).toEqual([
    [false, '50 blocks behind'],
    [true, null],
  ])
  expect(await readRange(reader)).toEqual(expected)
})

test('a head far ahead of the chain is rejected, from any node at any time', async () => {
  let isAhead = true
  const { url } = await nodeThat((request, answer) => {
    if (!isAhead || request.params?.[0] !== 'latest') return answer
    const number = `0x${(head + 5000).toString(16)}`
    return { ...answer, result: { ...(answer.result as object), number, hash: `0x${'ab'.repeat(32)}` } }
  })
  const both = readerOf([url, node.url])
  for (let times = 0; times < 10; times++) expect((await both.head(signal)).number).toBe(head)
  expect(both.status().map(({ healthy, errors }) => [healthy, (errors.lies ?? 0) > 0])).toEqual([
    [true, true],
    [true, false],
  ])
  isAhead = false
  const alone = readerOf([url], { patience: { attempts: 2, ms: 500 } })
  expect((await alone.head(signal)).number).toBe(head)
  isAhead = true
  await expect(alone.head(signal)).rejects.toMatchObject({ code: 'node_lies' })
})

test('an endpoint that asks for a pause delays nothing if another is free', async () => {
  const asked: string[] = []
  const proxy = await startProxy(node, {
    async pass({ requests, batch }) {
      asked.push(...requests.map(({ method }) => method))
      const body = requests.map(({ id }) => fault(id, 429, 'too many requests'))
      return { kind: 'answer', status: 429, headers: { 'retry-after': '30' }, body: batch ? body : body[0] }
    },
  })
  ends.push(() => proxy.stop())
  const reader = readerOf([proxy.url, node.url])
  const startedMs = performance.now()
  for (let times = 0; times < 5; times++) expect(await readRange(reader)).toEqual(expected)
  expect(performance.now() - startedMs).toBeLessThan(5000)
  expect(asked.length).toBeGreaterThan(0)
})

test('an endpoint that was down at the start is used only once its chain is verified', async () => {
  let isThere = false
  const asked: string[] = []
  const proxy = await startProxy(node, {
    async pass({ requests, batch }, upstream) {
      if (!isThere) return { kind: 'cut' }
      asked.push(...requests.map(({ method }) => method))
      const answers = (await upstream(requests)).map((answer, place) =>
        requests[place]?.method === 'eth_chainId' ? { ...answer, result: '0x1' } : answer,
      )
      return { kind: 'answer', body: batch ? answers : answers[0] }
    },
  })
  ends.push(() => proxy.stop())
  const reader = readerOf([proxy.url, node.url], { random: () => 0.2 })
  await reader.start(signal)
  expect(reader.status().map(({ healthy }) => healthy)).toEqual([false, true])
  isThere = true
  while (!asked.includes('eth_chainId')) await readRange(reader)
  while (!reader.status()[0]?.reason?.includes('chain id is 1,')) await readRange(reader)
  expect(new Set(asked)).toEqual(new Set(['eth_chainId']))
}, 20_000)

test('splits a request whose answer is longer than allowed', async () => {
  const reader = readerOf([node.url], { maxAnswerBytes: 20_000 })
  expect(await readRange(reader)).toEqual(expected)
  expect(reader.status()[0]?.errors.too_wide).toBeGreaterThan(0)
})

test('finds a limit with an unknown message by halving', async () => {
  const { url } = await nodeThat((request, answer) => {
    const [{ fromBlock, toBlock } = {}] = (request.params ?? []) as [{ fromBlock?: string; toBlock?: string }?]
    const isWide = request.method === 'eth_getLogs' && Number(toBlock) - Number(fromBlock) >= 12
    return isWide ? fault(request.id, -32000, 'narrow it down, please') : answer
  })
  const reader = readerOf([url], { random: () => 0 })
  expect(await readRange(reader)).toEqual(expected)
  expect(reader.status()[0]?.range).toBeLessThan(24)
})

test('splits a filter with more addresses than a node accepts', async () => {
  const pools = market.pools.flatMap((pool) => ('address' in pool ? [pool.address] : []))
  const { url } = await nodeThat((request, answer) => {
    const [filter] = (request.params ?? []) as [{ address?: string[] }?]
    return request.method === 'eth_getLogs' && (filter?.address?.length ?? 0) > 3
      ? fault(request.id, -32602, 'exceed max addresses')
      : answer
  })
  const filter = { addresses: pools, topics: FILTER.topics }
  const expectedAnswers = await readerOf([node.url]).blocks(head - 40, head, filter, signal)
  const reader = readerOf([url])
  expect(await reader.blocks(head - 40, head, filter, signal)).toEqual(expectedAnswers)
  expect(reader.status()[0]?.addresses).toBeLessThanOrEqual(3)
  expect(await reader.block((expectedAnswers.at(-1) as Header).hash, filter, signal)).toEqual(expectedAnswers.at(-1))
})

test('an error that quotes the URL is reported without it', async () => {
  const server = createServer((_, response) => {
    response.writeHead(403).end('POST http://127.0.0.1/v3/my-secret-key refused: my-secret-key is not valid')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => new Promise((resolve) => server.close(() => resolve())))
  const { port } = server.address() as AddressInfo
  const reader = readerOf([`http://127.0.0.1:${port}/v3/my-secret-key`], { patience: { attempts: 1, ms: 1000 } })
  const failed = await reader.blocks(1, 2, FILTER, signal).catch((error: Error) => error)
  expect(failed).toMatchObject({ code: 'node_denies', message: expect.stringContaining(`127.0.0.1:${port}`) })
  expect(`${(failed as Error).message}${(failed as Error).stack}${JSON.stringify(reader.status())}`).not.toContain(
    'secret',
  )
})

test('reads compressed answers, and respects Retry-After', async () => {
  const answers = [
    { status: 200, headers: { 'content-encoding': 'gzip' }, body: gzipSync('{"jsonrpc":"2.0","id":1,"result":"0x1"}') },
    { status: 429, headers: { 'retry-after': '7' }, body: 'slow down' },
    { status: 429, headers: { 'retry-after': '7' }, body: '{"error":{"code":-32005,"message":"slow down"}}' },
    { status: 200, headers: { 'content-encoding': 'gzip' }, body: gzipSync(`"${' '.repeat(100_000)}"`) },
  ]
  const server = createServer((_, response) => {
    const { status, headers, body } = answers.shift() ?? { status: 500, headers: {}, body: '' }
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => new Promise((resolve) => server.close(() => resolve())))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [name] = endpointNames([url])
  if (name === undefined) throw new Error('no name')
  const transport = httpTransport({ url, endpoint: name, maxAnswerBytes: 50_000, readError })
  ends.push(async () => transport.close())
  const question = { method: 'eth_chainId', params: [] }
  const ask = (...more: (typeof question)[]) => transport.exchange([question, ...more], { signal, timeoutMs: 1000 })
  expect(await ask()).toEqual([{ ok: true, result: '0x1' }])
  await expect(ask()).rejects.toMatchObject({ kind: 'rate_limited', retryAfterMs: 7000 })
  await expect(ask(question)).rejects.toMatchObject({ kind: 'rate_limited', retryAfterMs: 7000 })
  await expect(ask()).rejects.toMatchObject({ kind: 'too_wide' })
})
