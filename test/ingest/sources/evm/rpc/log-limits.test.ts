/** Providers' error messages for too many logs, as reported by their users. */
import { expect, test } from 'vitest'
import { readError, readLogLimit } from '../../../../../services/ingest/sources/evm/rpc/read-error.js'

const range = (blocks?: number) => (blocks === undefined ? { kind: 'range' } : { kind: 'range', blocks })
const suggested = (from: number, to: number) => ({ kind: 'range', suggested: { from, to } })

/** Provider · message · meaning. */
const MESSAGES: readonly (readonly [string, string, unknown])[] = [
  ['infura', 'range 1000000 exceeds limit of 10000', range(10_000)],
  [
    'infura, zksync',
    'Query returned more than 10000 results. Try with this block range [0x0, 0x30f].',
    suggested(0, 0x30f),
  ],
  ['infura, aurora, polygon zkevm', 'query returned more than 10000 results', range()],
  [
    'alchemy, free',
    'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x123c9b2, 0x123c9bb].',
    range(10),
  ],
  [
    'alchemy',
    'You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [0x1a30dfd, 0x1a30ff0]',
    range(500),
  ],
  [
    'alchemy, many logs',
    'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x1dfaf9, 0x1dfb0c]',
    suggested(0x1dfaf9, 0x1dfb0c),
  ],
  ['alchemy, older', 'Log response size exceeded. Please reduce query block range.', range()],
  ['quicknode', 'eth_getLogs is limited to a 10,000 range', range(10_000)],
  ['blast', 'eth_getLogs is limited to 0 - 10000 blocks range', range(10_000)],
  ['blast, paid', 'exceeds the range allowed for your plan (20000 > 5000)', range(5000)],
  ['blockpi', 'eth_getLogs is limited to 1024 block range. Please check the parameter requirements', range(1024)],
  ['1rpc', 'eth_getLogs is limited to a 2000 block range', range(2000)],
  ['1rpc, many logs', 'response size should not greater than 10000000 bytes', range()],
  ['ankr', 'block range is too wide', range()],
  ['ankr, tac', 'maximum [from, to] blocks distance: 10000', range(10_000)],
  ['llamarpc, ankr, reth', 'query exceeds max results 20000', range()],
  [
    'reth',
    'query exceeds max results 20000, retry with the range 25766988-25775072',
    suggested(25_766_988, 25_775_072),
  ],
  ['reth, hyperliquid', 'query exceeds max block range 100000', range(100_000)],
  ['moonbeam', 'block range is too wide (maximum 1024)', range(1024)],
  ['publicnode', 'exceed maximum block range: 50000', range(50_000)],
  ['heco', 'exceed maximin block range 5000', range(5000)],
  ['coinbase', 'please limit the query to at most 1,000 blocks', range(1000)],
  ['cloudflare', 'Max range: 800', range(800)],
  ['thirdweb', 'Maximum allowed number of requested blocks is 3500', range(3500)],
  ['avalanche', 'requested too many blocks from 1 to 4000, maximum is set to 2048', range(2048)],
  ['arbitrum', 'logs matched by query exceeds limit of 10000', range()],
  ['base', 'block range too large', range()],
  ['optimism', 'Block range is too large', range()],
  ['optimism, many logs', 'backend response too large', range()],
  ['chainstack', 'Block range limit exceeded. See more details at …', range()],
  ['merkle', 'eth_getLogs range is too large, max is 10k blocks', range(10_000)],
  ['harmony', 'query must be smaller than size 1024', range(1024)],
  ['swell', 'block range greater than 10000 max', range(10_000)],
  ['somnia', 'block range exceeds 1000', range(1000)],
  ['morph', 'block range is larger than max block range, block range = 5120, max block range = 5000', range(5000)],
  ['scroll', 'block range is bigger than maxBlockRange', range()],
  ['candle', 'block range too high', range()],
  ['tenderly', 'invalid params range 9009594 is bigger than range limit 2000', range(2000)],
  ['drpc', 'ranges over 10000 blocks are not supported on freetier', range(10_000)],
  ['zksync, many logs', 'Response is too big Exceeded max limit of 10485760', range()],
  ['besu', 'Requested range exceeds maximum RPC range limit', range()],
  ['erigon', 'query block range exceeds server limit, narrow your filter: 5', range()],
  ['erigon, zkevm', 'block range too large, max range: 1000', range(1000)],
  ['alchemy, as hyperindex met it', 'block range too large (2500), maximum allowed is 2000 blocks', range(2000)],
  ['ankr, many logs', 'Error serializing response: Error("Memory capacity exceeded")', range()],
  ['drpc, too slow', 'Request timeout on the free tier, please upgrade your tier to the paid one', range()],
  ['infura, too slow', 'query timeout of 10 seconds exceeded', range()],
  ['infura, older', 'request failed or timed out', range()],
  ['geth and others', 'context deadline exceeded', range()],
  ['a width in words', 'cannot query logs over more than 1000 blocks', range(1000)],
  ['geth', 'exceed max addresses', { kind: 'addresses' }],
  [
    'geth with a limit',
    'exceed max addresses or topics per search position 1000',
    { kind: 'addresses', addresses: 1000 },
  ],
  ['quicknode', 'Please specify less number of addresses', { kind: 'addresses' }],
]

test.each(MESSAGES)('%s: %s', (_, message, expected) => {
  expect(readLogLimit(message)).toEqual(expected)
  const { kind } = readError({ code: -32000, message }, { method: 'eth_getLogs', batch: 1 })
  expect(kind).toBe((expected as { kind: string }).kind === 'range' ? 'too_wide' : 'too_many_addresses')
})

test.each([
  'header not found',
  'block range extends beyond current head block',
  'Internal server error. Forwarder error: 1000.',
  'daily request count exceeded, request rate limited',
  'execution reverted',
  'Too many requests from this IP address',
])('not about logs: %s', (message) => expect(readLogLimit(message)).toBe(null))
