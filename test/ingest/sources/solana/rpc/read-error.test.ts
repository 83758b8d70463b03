import { expect, test } from 'vitest'
import { readError } from '../../../../../services/ingest/sources/solana/rpc/read-error.js'

/** Code · message of the node or provider · error kind. */
const ERRORS: readonly (readonly [number, string, string])[] = [
  [-32004, 'Block not available for slot 250000000', 'unknown_block'],
  [-32014, 'Block status not yet available for slot 250000000', 'unknown_block'],
  [-32007, 'Slot 250000000 was skipped, or missing due to ledger jump to recent snapshot', 'skipped'],
  [-32009, 'Slot 250000000 was skipped, or missing in long-term storage', 'skipped'],
  [-32005, 'Node is behind by 42 slots', 'lags'],
  [-32005, 'Node is unhealthy', 'lags'],
  [-32016, 'Minimum context slot has not been reached', 'lags'],
  [-32019, 'Failed to query long-term storage; please try again', 'unavailable'],
  [-32011, 'Transaction history is not available from this node', 'unsupported'],
  [-32601, 'Method not found', 'unsupported'],
  [-32602, 'Invalid params: invalid type', 'invalid'],
  [-32602, 'Slot range too large; max 500000', 'invalid'],
  [-32603, 'Internal error', 'node_error'],
  // QuickNode
  [
    -32007,
    '50/second request limit reached - reduce calls per second or upgrade your account at quicknode.com',
    'rate_limited',
  ],
  [-32003, 'daily request limit reached - upgrade your account at quicknode.com', 'rate_limited'],
  [-32012, 'credits limited to 6000/sec', 'rate_limited'],
  // Helius
  [-32429, 'max usage reached', 'rate_limited'],
  [-32429, 'rate limited', 'rate_limited'],
  [-32401, 'missing api key', 'denied'],
  // Triton, which also runs the public endpoints
  [
    429,
    'Too many requests for a specific RPC call, contact your app developer or support@rpcpool.com.',
    'rate_limited',
  ],
  [403, 'Access forbidden, contact your app developer or support@rpcpool.com.', 'denied'],
  // Alchemy
  [429, 'Your app has exceeded its compute units per second capacity.', 'rate_limited'],
  [-32000, 'Must be authenticated!', 'denied'],
  // Chainstack
  [-32005, "You've exceeded the RPS limit available on the current plan.", 'rate_limited'],
]

test.each(ERRORS)('%s %s: %s', (code, message, kind) => {
  expect(readError({ code, message }, { method: 'getBlock', batch: 1 })).toEqual({ kind, detail: `${code} ${message}` })
})

test('an error for a pruned block includes the first available block', () => {
  const message = 'Block 5 cleaned up, does not exist on node. First available block: 250000000'
  expect(readError({ code: -32001, message }, { method: 'getBlock', batch: 1 })).toEqual({
    kind: 'pruned',
    detail: `-32001 ${message}`,
    limit: 250_000_000,
  })
})

test('an error for a newer transaction version says how to fix it', () => {
  const message = 'Transaction version (1) is not supported by the requesting client.'
  const { kind, detail } = readError({ code: -32015, message }, { method: 'getBlock', batch: 1 })
  expect(kind).toBe('unsupported')
  expect(detail).toContain('newer version than Dextape supports')
})

test.each([
  [429, 'slow', 'rate_limited'],
  [401, 'who are you', 'denied'],
  [403, '<html>Forbidden</html>', 'denied'],
  [502, 'Bad Gateway', 'unavailable'],
  [400, 'Slot 7 was skipped, or missing in long-term storage', 'skipped'],
  [413, 'Payload', 'too_wide'],
])('HTTP %s %s: %s', (status, message, kind) => {
  expect(readError({ message }, { method: 'getBlock', batch: 1, status }).kind).toBe(kind)
})
