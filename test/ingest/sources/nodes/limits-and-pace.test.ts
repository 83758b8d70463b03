/** Request limits, pacing and health of an endpoint. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSenderWays } from '../../../../services/ingest/sources/evm/rpc/sender-ways.js'
import { createHealth } from '../../../../services/ingest/sources/nodes/endpoint-health.js'
import { createAdaptiveRate, createLearnedLimits } from '../../../../services/ingest/sources/nodes/endpoint-limits.js'
import { endpointNames } from '../../../../services/ingest/sources/nodes/endpoint-name.js'
import { type FaultKind, NodeFault } from '../../../../services/ingest/sources/nodes/node-fault.js'
import { createPace } from '../../../../services/ingest/sources/nodes/request-queue.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})
const { signal } = new AbortController()
const nowMs = () => Date.now()
const fault = (kind: FaultKind) => new NodeFault({ kind, endpoint: 'node', detail: 'so' })

describe('pace', () => {
  test('no one-second window exceeds the rate, and urgent requests go first', async () => {
    const pace = createPace(10, nowMs)
    const sent: { atMs: number; count: number; urgent: boolean }[] = []
    const startedMs = Date.now()
    const send = async (count: number, urgent: boolean) => {
      await pace.take(count, urgent, signal)
      sent.push({ atMs: Date.now() - startedMs, count, urgent })
    }
    const all = [4, 4, 4, 1, 5, 3, 2, 5].map((count) => send(count, false))
    all.push(send(2, true))
    await vi.advanceTimersByTimeAsync(10_000)
    await Promise.all(all)
    for (const { atMs } of sent) {
      const inWindow = sent.filter((one) => one.atMs >= atMs && one.atMs < atMs + 1000)
      expect(inWindow.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(10)
    }
    expect(sent.findIndex(({ urgent }) => urgent)).toBe(2)
    expect(sent.at(-1)?.atMs).toBeLessThan(4500)
  })

  test('can be slower than one request per second', async () => {
    const pace = createPace(0.5, nowMs)
    const startedMs = Date.now()
    const times: number[] = []
    const all = [1, 2, 3].map(() => pace.take(1, false, signal).then(() => times.push(Date.now() - startedMs)))
    await vi.advanceTimersByTimeAsync(6_000)
    await Promise.all(all)
    expect(times.map((ms) => Math.round(ms / 1000))).toEqual([0, 2, 4])
  })

  test('an aborted request leaves the queue', async () => {
    const pace = createPace(1, nowMs)
    const stop = new AbortController()
    await pace.take(1, false, signal)
    const given = pace.take(1, true, stop.signal)
    const next = pace.take(1, false, signal)
    stop.abort(new Error('enough'))
    await expect(given).rejects.toThrow('enough')
    await vi.advanceTimersByTimeAsync(1_100)
    await next
  })
})

test('the rate drops at the second rate limit error, quickly recovers to near the old rate, then rises slowly', async () => {
  const rate = createAdaptiveRate(nowMs)
  for (let second = 0; second < 3; second++) {
    rate.sent(100)
    await vi.advanceTimersByTimeAsync(1000)
  }
  rate.limited(undefined)
  expect(rate.pace.perS).toBe(Number.POSITIVE_INFINITY)
  rate.limited(undefined)
  rate.limited(undefined)
  expect(rate.pace.perS).toBeCloseTo(70)
  const rates: number[] = []
  for (let second = 0; second < 4; second++) {
    await vi.advanceTimersByTimeAsync(1000)
    rate.succeeded()
    rate.succeeded()
    rates.push(Math.round(rate.pace.perS))
  }
  expect(rates).toEqual([91, 94, 97, 99])
  rate.limited(2500)
  const startedMs = Date.now()
  const sent = rate.pace.take(1, true, signal).then(() => Date.now() - startedMs)
  await vi.advanceTimersByTimeAsync(5000)
  expect(await sent).toBe(2500)
})

describe('limits', () => {
  test('keeps a limit given in numbers, off by one if the node counts distances', () => {
    const limits = createLearnedLimits()
    limits.tooWide(10_000, 10, undefined)
    expect(limits.span).toBe(10)
    for (let times = 0; times < 1000; times++) limits.spanWorked(limits.span)
    expect(limits.span).toBe(10)
    limits.tooWide(10, 10, undefined)
    expect(limits.span).toBe(9)
  })
  test('too many logs: reduces to what fits or to half, then slowly grows again', () => {
    const limits = createLearnedLimits()
    limits.tooWide(8000, undefined, 500)
    expect(limits.span).toBe(500)
    limits.tooWide(500, undefined, 500)
    expect(limits.span).toBe(250)
    for (let times = 0; times < 10; times++) limits.spanWorked(limits.span)
    expect(limits.span).toBe(499)
    for (let times = 0; times < 300; times++) limits.spanWorked(limits.span)
    expect(limits.span).toBe(10_000)
  })
  test('never drops below one', () => {
    const limits = createLearnedLimits()
    for (let times = 0; times < 20; times++) limits.tooWide(limits.span, undefined, undefined)
    for (let times = 0; times < 20; times++) limits.batchRefused(limits.batch, undefined)
    for (let times = 0; times < 20; times++) limits.tooManyAddresses(limits.addresses, undefined)
    expect([limits.span, limits.batch, limits.addresses]).toEqual([1, 1, 1])
  })
  test('keeps a batch limit given in numbers; without a number it grows again', () => {
    const limits = createLearnedLimits()
    limits.batchRefused(100, 20)
    expect(limits.batch).toBe(20)
    limits.batchRefused(20, undefined)
    expect(limits.batch).toBe(10)
    for (let times = 0; times < 1000; times++) limits.batchWorked(limits.batch)
    expect(limits.batch).toBe(20)
  })
})

describe('health', () => {
  test('simultaneous failures count once; each further one doubles the pause, up to 30 s', async () => {
    const health = createHealth(nowMs, () => 1)
    await vi.advanceTimersByTimeAsync(1000)
    for (let times = 0; times < 16; times++) health.failed(fault('unavailable'), Date.now() - 100)
    expect(health.waitMs()).toBe(100)
    const rests: number[] = []
    for (let times = 0; times < 10; times++) {
      await vi.advanceTimersByTimeAsync(health.waitMs() + 1)
      health.failed(fault('timeout'), Date.now())
      rests.push(health.waitMs())
    }
    expect(rests).toEqual([200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000])
    expect(health).toMatchObject({ healthy: false, reason: 'timeout: so', errors: { unavailable: 16, timeout: 10 } })
    health.succeeded(5)
    expect(health).toMatchObject({ healthy: true, reason: null })
  })
  test('limits and reverts do not count as failures', () => {
    const health = createHealth(nowMs, () => 1)
    for (const kind of ['too_wide', 'reverted', 'pruned', 'rate_limited'] as const)
      health.failed(fault(kind), Date.now())
    expect(health).toMatchObject({ healthy: true, errors: { too_wide: 1, reverted: 1, pruned: 1, rate_limited: 1 } })
    expect(health.waitMs()).toBe(0)
  })
})

test('an endpoint is named by its host, and its messages contain nothing of its URL', () => {
  const [first, second] = endpointNames([
    'https://user:pass-word@eth.example.com/v2/kEy-0123456789?token=tokentoken',
    'wss://eth.example.com/v2/other-key-1',
  ])
  expect([first?.name, second?.name]).toEqual(['eth.example.com', 'eth.example.com#2'])
  const text = 'POST https://eth.example.com/v2/kEy-0123456789 failed: key kEy-0123456789, pass-word, tokentoken, v2'
  expect(first?.redact(text)).toBe('POST (a URL) failed: key (hidden), (hidden), (hidden), v2')
  expect(first?.redact('x'.repeat(1000))).toHaveLength(301)
  expect(first?.redact(`Authorization: Basic ${btoa('user:pass-word')}`)).toBe('Authorization: Basic (hidden)')
})

test('senders: tries each method and keeps the fastest; receipts only if clearly faster', () => {
  const ways = createSenderWays()
  expect([ways.best(true), ways.best(false)]).toEqual(['block', 'transaction'])
  for (const [way, ms] of [
    ['transaction', 100],
    ['receipt', 90],
    ['block', 200],
  ] as const) {
    expect(ways.untried(true)).toBe(way)
    ways.measured(way, 100, ms)
  }
  expect(ways.untried(true)).toBe(undefined)
  expect(ways.best(true)).toBe('transaction')
  for (let times = 0; times < 20; times++) ways.measured('receipt', 100, 10)
  expect(ways.best(true)).toBe('receipt')
  expect(ways.refused('receipt')).toBe(true)
  expect(ways.best(true)).toBe('transaction')
  expect(ways.refused('transaction')).toBe(false)
})
