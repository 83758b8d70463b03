import { describe, expect, it } from 'vitest'
import { movingAverage, volumeWeightedAverage } from '../../services/dashboard/chart/indicators.js'
import { type EventMark, marksOf } from '../../services/dashboard/chart/marks.js'
import { type Bar, isBar, putBar, withGaps } from '../../services/dashboard/chart/series.js'
import { percent, price, short, shortAddress, span, usd } from '../../services/dashboard/show/format.js'
import { complete, completionsAt, drawingOf } from '../../services/dashboard/sql/complete.js'
import { quoted } from '../../services/dashboard/sql/sql-text.js'
import { deepestOf, parseMetrics, perSecond, quantile } from '../../services/dashboard/system/metrics-text.js'
import { addRows, markRemoved } from '../../services/dashboard/token/trade-rows.js'

const bar = (timeS: number, close = 1, volume = 1): Bar => ({ timeS, open: 1, high: close, low: close, close, volume })

describe('figures of the dashboard', () => {
  it('write prices with five digits, and count the zeros of tiny ones', () => {
    expect([93_674.861, 34.5752, 2, 0.17102784, 0.0017102, 0.000012344, 0.00000000012344].map(price)).toEqual([
      ...['93,674.86', '34.5752', '2.0000', '0.1710', '0.001710', '0.0₄1234', '0.0₉1234'],
    ])
    expect([null, '', undefined, '0'].map(price)).toEqual(['–', '–', '–', '0'])
  })

  it('write amounts, changes, spans and addresses', () => {
    expect([0.001, 12.345, 1234.5, 12_345_678, -5].map(usd)).toEqual(['<$0.01', '$12.35', '$1,235', '$12.3M', '−$5.00'])
    expect([1.234, -12.34, 0, 574.4, null].map(percent)).toEqual(['+1.23%', '−12.3%', '0.00%', '+574%', '–'])
    expect([999, 1234, 45_600, 7_890_000].map(short)).toEqual(['999', '1.23K', '45.6K', '7.89M'])
    expect([999.4, 999_400, 999_960].map(short)).toEqual(['999', '999K', '1.00M'])
    expect([5, 90, 7200, 200_000, 100_000_000].map(span)).toEqual(['5s', '1m', '2h', '2d', '3y'])
    expect(shortAddress(`0x${'1'.repeat(40)}`)).toBe('0x1111…1111')
  })
})

describe('the chart', () => {
  it('gives buckets without trades their place, and shortens long gaps visibly', () => {
    const places = withGaps([bar(0), bar(180), bar(180 + 60 * 1000)], 60)
    expect(places.slice(0, 4).map((place) => [place.timeS, isBar(place)])).toEqual([
      ...[
        [0, true],
        [60, false],
        [120, false],
        [180, true],
      ],
    ])
    expect(places.length).toBe(4 + 12 + 1)
    expect(places.filter((place) => 'skippedS' in place)).toEqual([{ timeS: 180 + 7 * 60, skippedS: 60_000 }])
  })

  it('replaces a bar that comes again, and keeps the order', () => {
    const bars = [bar(0), bar(60), bar(180)]
    for (const one of [bar(60, 5), bar(120, 6), bar(240, 7)]) putBar(bars, one)
    expect(bars.map(({ timeS, close }) => [timeS, close])).toEqual([
      ...[
        [0, 1],
        [60, 5],
        [120, 6],
        [180, 1],
        [240, 7],
      ],
    ])
  })

  it('marks the largest event of a kind in a bar, and says how many others there were', () => {
    const at = (timeS: number, kind: EventMark['kind'], valueUsd: number): EventMark => ({ timeS, kind, valueUsd })
    const events = [at(61, 'buy', 1000), at(70, 'buy', 5000), at(119, 'sell', 2000), at(130, 'buy', 700)]
    expect(marksOf(events, (timeS) => timeS - (timeS % 60), 5)).toEqual([
      { timeS: 60, kind: 'buy', text: '$5.00K +1' },
      { timeS: 60, kind: 'sell', text: '$2.00K' },
      { timeS: 120, kind: 'buy', text: '$700' },
    ])
    const near = [at(60, 'buy', 900), at(120, 'buy', 700), at(120, 'sell', 500)]
    expect(marksOf(near, (timeS) => timeS, 60).map(({ text }) => text)).toEqual(['$900', '', '$500'])
    expect(quoted("0x' OR 1 = 1 --\\")).toBe("'0x\\' OR 1 = 1 --\\\\'")
  })

  it('averages closes, and weighs prices by volume from the start of each day', () => {
    const bars = [bar(0, 1), bar(60, 2), bar(120, 6), bar(86_400, 9, 2)]
    expect(movingAverage(bars, 2)).toEqual([
      { timeS: 60, value: 1.5 },
      { timeS: 120, value: 4 },
      { timeS: 86_400, value: 7.5 },
    ])
    expect(volumeWeightedAverage(bars, 60).map(({ value }) => value)).toEqual([1, 1.5, 3, 9])
  })
})

describe('a list of trades', () => {
  it('has each id once, newest first, and marks those that a reorg removed', () => {
    const row = (id: string, block: number) => ({ id, block, timeS: block, isRemoved: false })
    const rows = addRows([row('7-2', 7), row('5-1', 5)], [row('7-10', 7), row('6-1', 6), row('5-1', 5)])
    expect(rows.map(({ id }) => id)).toEqual(['7-10', '7-2', '6-1', '5-1'])
    expect(markRemoved(rows, ['6-1']).filter(({ isRemoved }) => isRemoved)).toEqual([
      { ...row('6-1', 6), isRemoved: true },
    ])
  })
})

describe('the SQL editor', () => {
  const schema = {
    views: [
      { name: 'trades', summary: '', columns: [{ name: 'amount_usd', type: 'Float64', description: '' }] },
      { name: 'pairs', summary: '', columns: [{ name: 'amm', type: 'String', description: '' }] },
    ],
    formats: [],
    limits: { sql_queries: null, sql_seconds: null, sql_rows: null, sql_result_mb: null, sql_memory_mb: null },
  }
  it('completes views, columns of the views in use, and functions', () => {
    expect(completionsAt('SELECT am FROM trades', 9, schema)).toEqual(['amount_usd'])
    expect(completionsAt('SELECT 1 FROM pa', 16, schema)).toEqual(['pairs'])
    expect(complete('SELECT cou FROM x', 10, 'count()')).toEqual({ text: 'SELECT count() FROM x', cursor: 13 })
  })

  it('draws the first column of times or texts against the first of numbers', () => {
    const meta = [
      { name: 'n', type: 'UInt64' },
      { name: 'day', type: "DateTime('UTC')" },
    ]
    const data = [
      { n: '2', day: '2026-01-02' },
      { n: '1', day: '2026-01-01' },
    ]
    expect(drawingOf({ meta, data, rows: 2 })).toEqual({
      ...{ labels: ['2026-01-01', '2026-01-02'], name: 'n', values: [1, 2], isTime: true },
    })
  })
})

describe('figures of /metrics', () => {
  const text = (count: number) => `# HELP x
dextape_serve_requests_total{status="200"} ${count}
dextape_serve_requests_total{status="400"} 1
dextape_stage_latency_seconds_bucket{le="0.01",stage="fold"} ${count}
dextape_stage_latency_seconds_bucket{le="0.1",stage="fold"} ${count + 8}
dextape_stage_latency_seconds_bucket{le="+Inf",stage="fold"} ${count + 10}`
  it('give rates between two readings, and quantiles as upper bounds', () => {
    const [before, now] = [parseMetrics(text(10), 0), parseMetrics(text(30), 2000)]
    expect(perSecond(before, now, 'dextape_serve_requests_total')).toBe(10)
    expect(perSecond(undefined, now, 'dextape_serve_requests_total')).toBeNaN()
    expect([0.5, 0.9, 1].map((part) => quantile(undefined, now, 'fold', part))).toEqual([
      0.01,
      0.1,
      Number.POSITIVE_INFINITY,
    ])
    expect(quantile(now, now, 'fold', 0.5)).toBeNaN()
  })

  it('bound the deepest reorg of a chain', () => {
    const depths = parseMetrics(
      `dextape_fold_reorg_depth_blocks_bucket{le="1",chain="eth"} 1
dextape_fold_reorg_depth_blocks_bucket{le="3",chain="eth"} 2
dextape_fold_reorg_depth_blocks_bucket{le="+Inf",chain="eth"} 2
dextape_fold_reorg_depth_blocks_bucket{le="+Inf",chain="bsc"} 1`,
      0,
    )
    expect([deepestOf(depths, 'eth'), deepestOf(depths, 'bsc')]).toEqual([3, Number.POSITIVE_INFINITY])
    expect(deepestOf(depths, 'solana')).toBeNaN()
  })
})
