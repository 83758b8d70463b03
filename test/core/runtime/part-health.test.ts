import { describe, expect, it } from 'vitest'
import { createLogger, silentLogger } from '../../../services/core/runtime/logger.js'
import { createMetrics } from '../../../services/core/runtime/metrics.js'
import { createHealth, registerHealthMetrics } from '../../../services/core/runtime/part-health.js'

describe('health', () => {
  it('reports what is unreachable, since when and why, and logs only changes', () => {
    let now = 10_000
    const lines: Record<string, unknown>[] = []
    const logger = createLogger('json', {}, (line) => lines.push(JSON.parse(line) as Record<string, unknown>))
    const health = createHealth({ logger, nowMs: () => now })
    const store = health.reachabilityOf('store')
    store.onReachable()
    health.markUnreachable('log', 'no broker')
    now = 12_900
    store.onUnreachable('refused')
    store.onUnreachable('still refused')
    expect(health.report()).toEqual([
      { part: 'log', since: 10, reason: 'no broker' },
      { part: 'store', since: 12, reason: 'still refused' },
    ])
    now = 20_000
    health.markReachable('log')
    store.onReachable()
    expect(health.report()).toEqual([])
    expect(lines.map(({ level, part, reason, away_s }) => [level, part, reason ?? away_s])).toEqual([
      ['warn', 'log', 'no broker'],
      ['warn', 'store', 'refused'],
      ['info', 'log', 10],
      ['info', 'store', 7],
    ])
  })

  it.each([
    ['GET https://me:hunter2@node.example/v3/SECRET?key=SECRET failed', 'GET https://node.example failed'],
    ['wss://hunter2@host:8123/x, then more', 'wss://host:8123 then more'],
    ['(http://10.0.0.1:8123/) refused', '(http://10.0.0.1:8123) refused'],
    ['no address: 5/3 parts', 'no address: 5/3 parts'],
  ])('reports no secret: %j', (given, reported) => {
    const health = createHealth({ logger: silentLogger })
    health.markUnreachable('source', given)
    expect(health.report()[0]?.reason).toBe(reported)
  })

  it('is a gauge for each part the process depends on', async () => {
    const health = createHealth({ parts: ['log', 'store'], logger: silentLogger })
    const metrics = createMetrics({ processMetrics: false })
    registerHealthMetrics(metrics, health)
    health.markUnreachable('store', 'x')
    const gauges = async () => (await metrics.text()).split('\n').filter((line) => line.startsWith('dextape_part'))
    expect(await gauges()).toEqual(['dextape_part_away{part="log"} 0', 'dextape_part_away{part="store"} 1'])
    health.markReachable('store')
    expect(await gauges()).toEqual(['dextape_part_away{part="log"} 0', 'dextape_part_away{part="store"} 0'])
  })
})
