import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../../services/core/runtime/logger.js'
import { createMetrics } from '../../../services/core/runtime/metrics.js'
import { createTracer, type TracingChoice, traceOf } from '../../../services/core/runtime/tracing.js'

const BLOCK = { chain: 'eth', number: 200, hash: '0xabc' }
const OTLP: TracingChoice = { kind: 'otlp', url: 'http://collector:4318/', everyBlocks: 100 }

function setUp(status = 200) {
  const posts: { url: string; body: string }[] = []
  const metrics = createMetrics({ processMetrics: false })
  const post = async (url: string, body: string) => {
    posts.push({ url, body })
    return status
  }
  const tracer = createTracer(OTLP, { service: 'ingest', logger: silentLogger, metrics, post })
  if (tracer === undefined) throw new Error('no tracer')
  return { tracer, posts, metrics }
}

describe('traces of blocks', () => {
  it('are off without a collector', () => {
    const metrics = createMetrics({ processMetrics: false })
    expect(createTracer({ kind: 'none' }, { service: 'ingest', logger: silentLogger, metrics })).toBeUndefined()
  })

  it('are of every Nth block', () => {
    const { tracer } = setUp()
    expect([99, 100, 101, 200].map(tracer.wants)).toEqual([false, true, false, true])
  })

  it('have ids that follow from the block, so that processes share a trace', () => {
    expect(traceOf(BLOCK)).toEqual(traceOf({ ...BLOCK }))
    expect(traceOf(BLOCK).traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(traceOf({ ...BLOCK, hash: '0xabd' }).traceId).not.toBe(traceOf(BLOCK).traceId)
  })

  it('are sent as OTLP over HTTP with a root and its children', async () => {
    const { tracer, posts, metrics } = setUp()
    tracer.span(BLOCK, 'block', 1_700_000_000_000.25, 1_700_000_000_001, { bytes: 7 })
    tracer.span(BLOCK, 'fold', 5, 3, { kind: 'block' })
    await tracer.close()
    expect(posts.map(({ url }) => url)).toEqual(['http://collector:4318/v1/traces'])
    const { traceId, rootId } = traceOf(BLOCK)
    const block = [
      { key: 'chain', value: { stringValue: 'eth' } },
      { key: 'block.number', value: { intValue: '200' } },
      { key: 'block.hash', value: { stringValue: '0xabc' } },
    ]
    const root = { traceId, spanId: rootId, name: 'block', kind: 1 }
    const [{ resource, scopeSpans }] = JSON.parse(posts[0]?.body ?? '').resourceSpans
    expect(resource.attributes[0]).toEqual({ key: 'service.name', value: { stringValue: 'dextape-ingest' } })
    expect(scopeSpans[0].spans).toEqual([
      {
        ...root,
        ...{ startTimeUnixNano: '1700000000000250000', endTimeUnixNano: '1700000000001000000' },
        attributes: [...block, { key: 'bytes', value: { intValue: '7' } }],
      },
      {
        ...{ traceId, spanId: expect.stringMatching(/^[0-9a-f]{16}$/), parentSpanId: rootId, name: 'fold', kind: 1 },
        // Clocks of threads differ: a span never ends before it begins.
        ...{ startTimeUnixNano: '5000000', endTimeUnixNano: '5000000' },
        attributes: [...block, { key: 'kind', value: { stringValue: 'block' } }],
      },
    ])
    expect(await metrics.text()).toContain('dextape_trace_spans_total{outcome="sent"} 2')
  })

  it('are dropped and counted when the collector refuses them', async () => {
    const { tracer, metrics } = setUp(503)
    for (let i = 0; i < 2050; i++) tracer.span(BLOCK, 'push', 1, 2)
    await tracer.close()
    expect(await metrics.text()).toContain('dextape_trace_spans_total{outcome="dropped"} 2050')
  })
})
