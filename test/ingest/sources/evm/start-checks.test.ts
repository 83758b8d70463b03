/** The quote tokens of a chain are checked on chain before anything is read. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChainFacts } from '../../../../services/core/domain/chains.js'
import { createLogger, silentLogger } from '../../../../services/core/runtime/logger.js'
import { createChainReader, type RpcChainReader } from '../../../../services/ingest/sources/evm/rpc/evm-reader.js'
import { checkConfiguredTokens, checkScopeTokens } from '../../../../services/ingest/sources/evm/start-checks.js'
import { type EvmNode, startNode } from '../../../rig/evm/node.js'
import { type OpenMarket, openMarket } from '../../../rig/evm/opening.js'

const USDT_OF_ETH = '0xdac17f958d2ee523a2206206994597c13d831ec7'
const NOWHERE = `0x${'12'.repeat(20)}`
const { signal } = new AbortController()

let node: EvmNode
let market: OpenMarket
let reader: RpcChainReader
beforeAll(async () => {
  node = await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 })
  market = await openMarket(node)
  reader = createChainReader({ chain: 'base', chainId: 8453, urls: [node.url], logger: silentLogger })
})
afterAll(async () => {
  await reader?.close()
  await node?.stop()
})

function factsOf(stables: string[]): ChainFacts {
  const { weth, usdc } = market.contracts.tokens
  return {
    ...{ chain: 'base', family: 'evm', title: 'Base', chainId: 8453 },
    ...{ anchor: usdc.address, native: weth.address, stables, majors: [] },
  }
}

test('accepts tokens of the chain, with their symbols', async () => {
  const { usdt } = market.contracts.tokens
  const checked = await checkConfiguredTokens(
    reader,
    factsOf([usdt.address]),
    new Set([usdt.address]),
    silentLogger,
    signal,
  )
  expect(checked.map(({ rank, facts }) => [rank, facts.symbol, facts.decimals])).toEqual([
    ['anchor', 'USDC', 6],
    ['native', 'WETH', 18],
    ['stables', 'USDT', 6],
  ])
})

test('rejects a configured stablecoin of another chain, and names that chain', async () => {
  const check = checkConfiguredTokens(reader, factsOf([USDT_OF_ETH]), new Set([USDT_OF_ETH]), silentLogger, signal)
  await expect(check).rejects.toMatchObject({
    name: 'ConfigError',
    code: 'configured_token',
    message: expect.stringMatching(
      /"stables" 0xdac17f\w+ has no token contract on this chain, it is a token of eth \(its stable\) \(chain base\).*Set their addresses on base/,
    ),
  })
})

test('rejects an unknown address and a token without decimals', async () => {
  const { mute } = market.contracts.tokens
  const given = [NOWHERE, mute.address]
  await expect(checkConfiguredTokens(reader, factsOf(given), new Set(given), silentLogger, signal)).rejects.toThrow(
    /0x1212\w+ has no token contract on this chain; "stables" 0x\w+ \(.+\) does not return its decimals/,
  )
})

test('only warns about a built-in token', async () => {
  const lines: string[] = []
  const logger = createLogger('json', {}, (line) => lines.push(line))
  await checkConfiguredTokens(reader, factsOf([USDT_OF_ETH]), new Set(), logger, signal)
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', chain: 'base', tokens: [`stables ${USDT_OF_ETH}`] })
})

test('warns about a chain without dollar tokens, because all its prices would be missing', async () => {
  const lines: string[] = []
  const logger = createLogger('json', {}, (line) => lines.push(line))
  const { anchor: _, ...facts } = factsOf([])
  await checkConfiguredTokens(reader, facts, new Set(), logger, signal)
  expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
    'the chain has neither "anchor" nor "stables": there are no USD prices',
  ])
})

test('rejects a scope token that is not a token, and follows one without decimals', async () => {
  const { mute, cat } = market.contracts.tokens
  await checkScopeTokens(reader, 'base', [mute.address, cat.address], signal)
  await expect(checkScopeTokens(reader, 'base', [cat.address, USDT_OF_ETH], signal)).rejects.toMatchObject({
    name: 'ConfigError',
    message: expect.stringMatching(/0xdac17f\w+ has no token contract on this chain, it is a token of eth .*--token/),
  })
})
