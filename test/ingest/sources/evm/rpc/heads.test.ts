/** Which block is the head, and the time between blocks, if endpoints disagree. */
import { expect, test } from 'vitest'
import { createHeaderFetcher, type FullHeader } from '../../../../../services/ingest/sources/evm/rpc/fetch-headers.js'
import { createHeadTracker } from '../../../../../services/ingest/sources/evm/rpc/heads.js'
import { createListedSenders } from '../../../../../services/ingest/sources/evm/rpc/sender-ways.js'
import { createEndpoint, type Endpoint } from '../../../../../services/ingest/sources/nodes/endpoint.js'
import { endpointNames } from '../../../../../services/ingest/sources/nodes/endpoint-name.js'
import { createEndpointPool } from '../../../../../services/ingest/sources/nodes/endpoint-pool.js'
import { createPace } from '../../../../../services/ingest/sources/nodes/request-queue.js'
import type { Transport } from '../../../../../services/ingest/sources/nodes/transport.js'

const nowMs = () => 0
const sleep = async () => {}
const random = () => 0.5

/** No node is queried here: heads come from subscriptions. */
const mute: Transport = { exchange: async () => [], bytesReceived: 0, close() {} }

/** Always answers with a block of this number. */
const at = (number: number): Transport => {
  const hash = `0x${number.toString(16).padStart(64, '0')}`
  const result = { number: `0x${number.toString(16)}`, timestamp: '0x3e8', hash, parentHash: hash }
  return { ...mute, exchange: async () => [{ ok: true, result }] }
}

function trackerOf(
  urls: string[],
  transports: readonly Transport[] = [],
): { tracker: ReturnType<typeof createHeadTracker>; endpoints: Endpoint[] } {
  const chainPace = createPace(Number.POSITIVE_INFINITY, nowMs)
  const endpoints = endpointNames(urls).map((name, place) =>
    createEndpoint({ name, transport: transports[place] ?? mute, chainPace, maxInFlight: 1, nowMs, random }),
  )
  const patience = { attempts: 1, ms: 1 }
  const pool = createEndpointPool({ chain: 'base', endpoints, patience, timeoutMs: 1, nowMs, random, sleep })
  return {
    tracker: createHeadTracker(pool, createHeaderFetcher(pool, 'base', createListedSenders(), nowMs, sleep), nowMs),
    endpoints,
  }
}

const header = (number: number, timeS: number, branch = 'a'): FullHeader => ({
  ...{ number, timeS, bloom: null, txCount: null },
  hash: `0x${branch}${number}`,
  parentHash: `0x${branch}${number - 1}`,
})

test('the time between blocks is the typical one, despite pauses', () => {
  const { tracker, endpoints } = trackerOf(['http://one.example'])
  const [one] = endpoints as [Endpoint]
  expect(tracker.blockMs).toBe(null)
  const times = [0, 2, 4, 544, 546, 548, 550]
  for (const [number, timeS] of times.entries()) tracker.noticed(one, header(number, timeS))
  expect(tracker.blockMs).toBe(2000)
  for (let number = 7; number < 20; number++) tracker.noticed(one, header(number, 600 + number))
  expect(tracker.blockMs).toBe(1000)
})

test('a notified head is new, known, or unverified if lower or far above, unless its node is known to lag', () => {
  const { tracker, endpoints } = trackerOf(['http://one.example', 'http://other.example'])
  const [one, other] = endpoints as [Endpoint, Endpoint]
  expect(tracker.noticed(one, header(10, 100))).toBe('new')
  expect(tracker.noticed(other, header(10, 100))).toBe('known')
  expect(tracker.noticed(other, header(9, 98))).toBe('unverified')
  expect(tracker.noticed(one, header(10, 100, 'b'))).toBe('new')
  other.health.setLagging(30)
  expect(tracker.noticed(other, header(8, 96))).toBe('known')
  expect(tracker.noticed(other, header(9000, 120))).toBe('unverified')
  expect(tracker.highest).toBe(10)
})

test.each([
  [100, true],
  [200, false],
])('at four blocks per second, %i blocks behind is healthy: %s', async (behind, healthy) => {
  const { tracker, endpoints } = trackerOf(
    ['http://one.example', 'http://other.example'],
    [at(4000), at(4000 - behind)],
  )
  const [one, other] = endpoints as [Endpoint, Endpoint]
  for (let number = 0; number < 40; number++) tracker.noticed(one, header(number, Math.floor(number / 4)))
  expect((await tracker.head(new AbortController().signal)).number).toBe(4000)
  expect(other.health.healthy).toBe(healthy)
})
