/** Findings about nodes, against real ones. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkNodes } from '../../../services/cli/doctor/nodes.js'
import { type ChainSection, loadConfig } from '../../../services/core/config/index.js'
import { knownContracts } from '../../rig/evm/contracts.js'
import { startLimiter } from '../../rig/evm/limiter.js'
import { playMarket } from '../../rig/evm/market.js'
import { type EvmNode, startNode } from '../../rig/evm/node.js'
import { type OpenMarket, openMarket } from '../../rig/evm/opening.js'

let node: EvmNode
let market: OpenMarket
let headTimeS: number

beforeAll(async () => {
  node = await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 })
  market = await openMarket(node)
  await playMarket(market, { seed: 3, blocks: 60 })
  headTimeS = Number((await node.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])).timestamp)
})
afterAll(() => node?.stop())

async function findingsOf(section: ChainSection): Promise<string[]> {
  const cwd = mkdtempSync(join(tmpdir(), 'dextape-doctor-'))
  const config = loadConfig({ env: {}, cwd, file: undefined, chains: { base: section } })
  const nowMs = () => (headTimeS + 3) * 1000
  const findings = await checkNodes(config, [...config.sources.values()], nowMs, new AbortController().signal, () => {})
  return findings.map(({ level, what, fix }) => `${level} ${what}${fix === undefined ? '' : ` → ${fix}`}`)
}

test('reports health, head, finality, archive, limits and the cost of the scope', async () => {
  const lines = await findingsOf({ rpc: [node.url] })
  expect(lines[0]).toMatch(
    /^ok base: node 127\.0\.0\.1:\d+ responds in \d+ ms; head \d+; accepts ranges of 10,000 blocks, batches of 100$/,
  )
  expect(lines[1]).toMatch(/^ok base: head \d+, 3 s old$/)
  expect(lines[2]).toMatch(/^ok base: finality: block \d+, \d+ below the head \("finalized" tag\)$/)
  expect(lines[3]).toBe('ok base: archive node: state is available for every block')
  expect(lines[4]).toMatch(/^warn base: tokens not found on this chain: 0x/)
  expect(lines[5]).toMatch(
    /^ok base: the scope needs about [\d.]+ requests\/s and [\d.]+ GB per day \(the last 50 blocks, [\d.]+ s each, had \d+ matching logs in \d+ transactions\)$/,
  )
  expect(lines).toHaveLength(6)
}, 60_000)

test('stays within a provider’s limits, and reports an address that is not a pool', async () => {
  const limiter = await startLimiter(node, { requestsPerS: 100, maxBlocks: 10 })
  try {
    const lines = await findingsOf({ rpc: [limiter.url], max_rps: 60, pools: ['0x'.padEnd(42, '1')] })
    expect(lines[0]).toMatch(/accepts ranges of 10 blocks/)
    expect(lines.at(-1)).toMatch(/^fail base: Cannot follow pool 0x1111/)
    expect(limiter.refused).toBe(0)
  } finally {
    await limiter.stop()
  }
}, 60_000)

test('counts the pools that price a pool’s quote token towards its cost', async () => {
  const { weth, usdc, usdt, cat } = market.contracts.tokens
  const pool = market.pools.find(({ kind, token0, token1 }) => kind === 'v2' && token0 === cat && token1 === weth)
  if (pool === undefined || !('address' in pool)) throw new Error('the market has no such pair')
  const money = { anchor: usdc.address, native: weth.address, stables: [usdt.address], majors: [] }
  const logsWith = async (contracts: NonNullable<ChainSection['contracts']>) => {
    const lines = await findingsOf({ rpc: [node.url], pools: [pool.address], ...money, contracts })
    return Number(/had (\d+) matching logs/.exec(lines.at(-1) ?? '')?.[1])
  }
  const [factory] = knownContracts(market.contracts)
  if (factory === undefined) throw new Error('the market has no factory')
  const alone = await logsWith([])
  expect(alone).toBeGreaterThan(0)
  expect(await logsWith([factory])).toBeGreaterThan(alone)
}, 60_000)

test('reports an unreachable node in one line, without the URL', async () => {
  const lines = await findingsOf({ rpc: ['http://127.0.0.1:9/my-secret-key'] })
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/^fail base: the node does not respond \(chain base\); got 127\.0\.0\.1:9: ECONNREFUSED/)
  expect(lines[0]).not.toContain('secret')
}, 60_000)

test('reports a stablecoin of another chain', async () => {
  const lines = await findingsOf({ rpc: [node.url], stables: ['0xdac17f958d2ee523a2206206994597c13d831ec7'] })
  expect(lines.at(-1)).toMatch(
    /^fail base: Configured token not found on this chain: .*it is a token of eth \(its stable\)/,
  )
}, 60_000)
