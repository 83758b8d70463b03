/** Alerts, dashboard, runbook and the page of metrics agree with the metrics the services register. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { repositoryRoot } from '../../schemas/avro.js'
import { namesIn, registeredMetrics, seriesNames } from '../rig/metric-names.js'

type Alert = {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; runbook: string }
}
type AlertTest = { name: string; alert_rule_test: { alertname: string; exp_alerts: object[] }[] }
type Panel = { type: string; title: string; targets?: { expr: string }[] }

const read = (name: string) => readFileSync(join(repositoryRoot(), name), 'utf8')
const alerts = (parse(read('infra/prometheus/alerts.yml')) as { groups: { rules: Alert[] }[] }).groups.flatMap(
  ({ rules }) => rules,
)
const { panels } = JSON.parse(read('infra/grafana/operations/dextape-operations.json')) as { panels: Panel[] }
const known = seriesNames()
const unknownIn = (expression: string) => namesIn(expression).filter((name) => !known.has(name))

describe('names in an expression', () => {
  it('are those of series, not of functions, labels or keywords', () => {
    const expression = 'sum by (le, x) (rate(a_total{b="c"}[5m])) / on (y) d > 5 and e offset 1h unless time() - f_1'
    expect(namesIn(expression)).toEqual(['a_total', 'd', 'e', 'f_1'])
  })
})

describe('alerts', () => {
  it('are many, each with its own name and a known severity', () => {
    expect(alerts.length).toBeGreaterThan(25)
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
    expect(alerts.filter(({ labels }) => !['critical', 'warning', 'info'].includes(labels.severity))).toEqual([])
  })

  it.each(alerts.map(({ alert, expr }) => [alert, expr]))('%s asks for metrics that exist', (_, expr) => {
    expect([namesIn(expr).length > 0, unknownIn(expr)]).toEqual([true, []])
  })

  it('have an entry in the runbook each, and the runbook has no other', () => {
    const entries = [...read('docs/runbook.md').matchAll(/^### (.+)\n\n(\S.*)/gm)].map(([, title = '']) => title)
    expect(entries.sort()).toEqual(alerts.map(({ alert }) => alert).sort())
    const wrong = alerts.filter((one) => one.annotations.runbook !== `docs/runbook.md#${one.alert.toLowerCase()}`)
    expect(wrong).toEqual([])
  })

  it('are each fired by a test, which promtool runs in a long run', () => {
    const { tests } = parse(read('infra/prometheus/alerts.test.yml')) as { tests: AlertTest[] }
    const fired = tests.flatMap(({ alert_rule_test: checks }) =>
      checks.flatMap(({ alertname, exp_alerts: expected }) => (expected.length > 0 ? [alertname] : [])),
    )
    expect(fired.sort()).toEqual(alerts.map(({ alert }) => alert).sort())
  })
})

describe('the tests that start the product', () => {
  it('fire each alert by its cause, which they do in a long run', () => {
    const files = ['up', 'nodes', 'cluster'].map((part) => read(`test/integration/alerts-${part}.long.test.ts`)).join()
    const fired = new Set([...files.matchAll(/(?:fires\(|^ {4}\[)'(Dextape\w+)'/gm)].map(([, name = '']) => name))
    expect([...fired].sort()).toEqual(alerts.map(({ alert }) => alert).sort())
  })
})

describe('the dashboard of operations', () => {
  const charts = panels.filter(({ type }) => type !== 'row')

  it.each(charts.map(({ title, targets }) => [title, targets ?? []] as const))(
    '%s shows metrics that exist',
    (_, all) => {
      expect(all.length).toBeGreaterThan(0)
      expect(all.flatMap(({ expr }) => unknownIn(expr))).toEqual([])
    },
  )
})

describe('the page of metrics', () => {
  it('lists every metric once, and no other', () => {
    const listed = [...read('docs/monitoring.md').matchAll(/^\| `(dextape_\w+)` \|.*\| (Histogram)?/gm)]
    const kinds = listed.map(([, name = '', histogram]) => [name, histogram === undefined ? 'plain' : 'histogram'])
    const registered = [...registeredMetrics()].map(([name, kind]) => [name, kind === 'histogram' ? kind : 'plain'])
    expect(kinds.sort()).toEqual(registered.sort())
  })
})
