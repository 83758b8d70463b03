import { expect, test } from 'vitest'
import { readError } from '../../../../../services/ingest/sources/evm/rpc/read-error.js'

/** Method · code · message · error kind. */
const ERRORS: readonly (readonly [string, number, string, string])[] = [
  ['eth_getLogs', -32005, 'limit exceeded', 'too_wide'],
  ['eth_call', -32005, 'limit exceeded', 'rate_limited'],
  // Besu uses the code that others use for a rate limit.
  ['eth_getLogs', -32005, 'Requested range exceeds maximum RPC range limit', 'too_wide'],
  ['eth_getLogs', -32012, 'credits limited to 6000/sec', 'rate_limited'],
  ['eth_getLogs', -32000, 'rate limit exceeded for your IP address', 'rate_limited'],
  ['eth_getLogs', -32005, 'daily request count exceeded, request rate limited', 'rate_limited'],
  ['eth_getLogs', -32005, 'project ID request rate exceeded', 'rate_limited'],
  ['eth_call', 429, 'Your app has exceeded its compute units per second capacity.', 'rate_limited'],
  ['eth_call', -32007, '50/second request limit reached - reduce calls per second', 'rate_limited'],
  ['eth_call', -32016, 'over rate limit', 'rate_limited'],
  ['eth_call', -32097, 'rate limit exceeded', 'rate_limited'],
  ['eth_blockNumber', -32000, 'Too Many Requests', 'rate_limited'],
  ['eth_call', 3, 'execution reverted: UniswapV2: K', 'reverted'],
  ['eth_call', -32000, 'execution reverted: rate limit exceeded', 'reverted'],
  ['eth_call', -32015, 'VM execution error. revert: Too many requests in this batch', 'reverted'],
  ['eth_call', -32000, 'out of gas', 'reverted'],
  ['eth_call', -32015, 'VM execution error.', 'reverted'],
  ['eth_call', -32000, 'invalid opcode: INVALID', 'reverted'],
  ['eth_call', -32000, `missing trie node ${'ab'.repeat(32)} (path ) state 0x12 is not available`, 'pruned'],
  ['eth_call', -32000, 'required historical state unavailable (reexec=128)', 'pruned'],
  ['eth_call', -32000, 'historical state 0xab is not available', 'pruned'],
  ['eth_call', -32000, 'This request is not supported because your node is running with state pruning.', 'pruned'],
  ['eth_call', -32000, 'no historical RPC is available for this historical (pre-bedrock) request', 'pruned'],
  ['eth_getBlockByNumber', 4444, 'pruned history unavailable', 'pruned'],
  ['eth_call', -32000, 'header not found', 'unknown_block'],
  ['eth_getLogs', -32001, '8633830 could not be found', 'unknown_block'],
  ['eth_call', -32001, 'block not found: 0x123', 'unknown_block'],
  ['eth_getLogs', -32000, 'unknown block', 'unknown_block'],
  ['eth_getLogs', -32000, 'block range extends beyond current head block', 'unknown_block'],
  [
    'eth_getLogs',
    -32000,
    'One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found',
    'unknown_block',
  ],
  ['eth_getHeaderByNumber', -32601, 'Method not found', 'unsupported'],
  ['eth_getBlockByNumber', -32000, 'finalized block not found', 'unsupported'],
  ['eth_getBlockByNumber', -32000, 'malformed blocknumber', 'unsupported'],
  ['eth_getBlockByNumber', -32000, 'strconv.ParseUint: parsing "finalized": invalid syntax', 'unsupported'],
  ['eth_getBlockByNumber', -32000, 'cannot query unfinalized data', 'unknown_block'],
  ['eth_subscribe', -32000, 'the method eth_subscribe does not exist/is not available', 'unsupported'],
  ['eth_call', -32602, 'invalid argument 1: cannot unmarshal object', 'invalid'],
  ['eth_call', -32603, 'Internal error', 'node_error'],
  ['eth_getLogs', -32001, 'Unable to complete request at this time.', 'node_error'],
  ['eth_call', -32000, 'invalid api key', 'denied'],
]

test.each(ERRORS)('%s %s %s: %s', (method, code, message, kind) => {
  expect(readError({ code, message }, { method, batch: 1 })).toMatchObject({ kind, detail: `${code} ${message}` })
})

test.each([
  [429, 'slow', 'rate_limited'],
  [401, 'who are you', 'denied'],
  [403, '<html>Forbidden</html>', 'denied'],
  [502, 'Bad Gateway', 'unavailable'],
  [504, '<html>Gateway Time-out</html>', 'timeout'],
  [524, 'error code: 524', 'timeout'],
  [413, 'Payload', 'too_wide'],
])('HTTP %s %s: %s', (status, message, kind) => {
  expect(readError({ message }, { method: 'eth_getLogs', batch: 1, status }).kind).toBe(kind)
})

test.each([
  ['batch too large', undefined],
  ['Batch size too large, max 10 allowed', 10],
  ['batch of more than 3 requests are not allowed on free tier', 3],
  ['JSON-RPC batch requests are not supported', undefined],
  ['Too many requests in batch. The batch limit is 100', 100],
])('batch error: %s', (message, limit) => {
  const reading = readError({ code: -32600, message }, { method: 'batch', batch: 120, isAboutAll: true })
  expect(reading).toMatchObject({ kind: 'batch_refused', ...(limit === undefined ? {} : { limit }) })
})

test('reads the message in the error’s data', () => {
  const error = { code: -32602, message: 'invalid params', data: { payload: 'range 9 is bigger than range limit 2' } }
  expect(readError(error, { method: 'eth_getLogs', batch: 1 })).toMatchObject({ kind: 'too_wide', limit: 2 })
})

test('tells an error of one request in a batch from an error of the batch', () => {
  const of = (message: string) => readError({ code: -32602, message }, { method: 'eth_call', batch: 5 }).kind
  expect(of('invalid argument 0')).toBe('invalid')
  expect(of('batch too large')).toBe('batch_refused')
})
