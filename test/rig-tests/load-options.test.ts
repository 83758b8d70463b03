/** Options, subscriptions and percentiles of `npm run load`. */
import { expect, it } from 'vitest'
import { createLatencies, percentilesOf } from '../bench/sockets/latency.js'
import { readOptions } from '../bench/sockets/options.js'
import { planSockets } from '../bench/sockets/plan.js'
import { createRandom } from '../rig/market/random.js'

it('reads every option, and has defaults for each proof', () => {
  expect(
    readOptions([
      ...['--sockets', '50', '--subscriptions', '5', '--swaps-per-s', '80', '--minutes', '10', '--history-h', '0.1'],
      ...['--away-s', '8', '--seed', '3', '--stalled', '1%', '--searches', '5', '--queries', '10', '--hostile'],
    ]),
  ).toEqual({
    ...{ proof: 'live', sockets: 50, subscriptionsEach: 5, swapsPerS: 80, seconds: 600, historyH: 0.1, seed: 3 },
    ...{ stalled: 0.01, searches: 5, queries: 10, isHostile: true, awayS: 8 },
  })
  expect(readOptions(['--proof', 'resume'])).toEqual({
    ...{ proof: 'resume', sockets: 10_000, subscriptionsEach: 10, swapsPerS: 200, seconds: 30, historyH: 6, seed: 1 },
    ...{ stalled: 0, searches: 0, queries: 0, isHostile: false, awayS: 5 },
  })
})

it.each([
  [['--proof', 'all'], '--proof must be live, resume or restore, got all'],
  [['--sockets', 'many'], '--sockets must be a number of at least 0, got many'],
  [['--subscriptions', '1001'], '--subscriptions must be at most 1000, got 1001'],
])('refuses %j', (args, message) => expect(() => readOptions(args)).toThrow(message))

it('gives the time that a share of the pushes did not exceed', () => {
  const latencies = createLatencies()
  expect(percentilesOf(latencies)).toEqual({ p50: Number.NaN, p95: Number.NaN, p99: Number.NaN })
  for (let ms = 1; ms <= 200; ms += 1) latencies.add(ms)
  expect(percentilesOf(latencies)).toEqual({ p50: 100, p95: 190, p99: 198 })
  latencies.clear()
  latencies.add(100_000)
  expect(percentilesOf(latencies)).toEqual({ p50: 60_000, p95: 60_000, p99: 60_000 })
})

it('plans no two price subscriptions of a socket with the same ids, which would be one', () => {
  const listed = ['a', 'b', 'c', 'd'].map((pair) => ({ chain: 'eth', token: `t${pair}`, pair, swapsADay: 1 }))
  for (const plan of planSockets(20, 50, listed, createRandom(1).next)) {
    const prices = plan.flatMap(([topic, ids]) =>
      topic === 'price' ? [[...new Set(ids as string[])].sort().join()] : [],
    )
    expect(new Set(prices).size).toBe(prices.length)
  }
})
