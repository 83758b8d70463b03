import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createReplayReporter } from '../../services/cli/replay/replay-report.js'
import {
  type PublishedReport,
  publishStatus,
  type ServiceReport,
} from '../../services/core/coordination/service-reports.js'
import { DextapeError } from '../../services/core/domain/errors.js'
import { openKeyedTable } from '../../services/core/log/keyed-table.js'
import { type EventLog, STATUS_TOPIC } from '../../services/core/log/port.js'
import { createMetrics } from '../../services/core/runtime/metrics.js'
import { createPipeStatus } from '../../services/serve/pipe-status.js'
import { registerReplayMetrics } from '../../services/serve/replay-metrics.js'
import { type SharedLog, sharedLog } from '../rig/shared-log.js'

let shared: SharedLog
let now: number
beforeEach(() => {
  shared = sharedLog()
  now = 1_000_000
})
afterEach(() => shared.close())

/** Publishes one report every two seconds. */
async function publishReports(log: EventLog, instance: string, reports: readonly ServiceReport[]): Promise<void> {
  const stop = new AbortController()
  let turn = 0
  const last = reports.at(-1) as ServiceReport
  const sleep = async (ms: number) => {
    now += ms
    if (++turn === reports.length) stop.abort()
  }
  await publishStatus(log, { instance, report: () => reports[turn] ?? last, nowMs: () => now, sleep }, stop.signal)
}

async function read() {
  const table = await openKeyedTable<PublishedReport>(shared.open(), STATUS_TOPIC)
  return createPipeStatus(
    () => table.entries().map(({ value }) => value),
    () => now,
  )
}

const ingest = (publishedAtMs: number, away: ServiceReport['away'] = []): ServiceReport => ({
  service: 'ingest',
  chains: [{ chain: 'eth', source: 'day.jsonl', publishedAtMs }],
  away,
})
const fold = (chain: string, stopped: string | null, away: ServiceReport['away'] = []): ServiceReport => ({
  service: 'aggregate',
  chains: [{ chain, indexedFrom: 7, stopped }],
  away,
})

describe('service reports', () => {
  it('are merged into the status of each chain, whichever instance sent them', async () => {
    expect((await read()).chains()).toEqual([])
    await publishReports(shared.open(), 'a-1', [ingest(now - 3000)])
    await publishReports(shared.open(), 'b-2', [fold('eth', null)])
    await publishReports(shared.open(), 'c-3', [fold('bsc', 'no parent')])
    expect((await read()).chains()).toEqual([
      { chain: 'eth', source: 'day.jsonl', sourceAgeS: 9, indexedFrom: 7 },
      { chain: 'bsc', source: '', sourceAgeS: null, indexedFrom: 7, stopped: 'no parent' },
    ])
  })

  it('use the newest report of a chain that moved to another instance', async () => {
    await publishReports(shared.open(), 'old', [fold('eth', 'stuck')])
    await publishReports(shared.open(), 'new', [fold('eth', null)])
    expect((await read()).chains()).toEqual([{ chain: 'eth', source: '', sourceAgeS: null, indexedFrom: 7 }])
  })

  it('list outages until the reporting instance is silent for a minute', async () => {
    const store = { part: 'store', since: 900, reason: 'refused' } as const
    await publishReports(shared.open(), 'a-1', [ingest(0)])
    await publishReports(shared.open(), 'b-2', [fold('eth', null, [store])])
    const status = await read()
    expect(status.outages()).toEqual([{ part: 'store', where: 'aggregate b-2', since: 900, reason: 'refused' }])
    now += 60_000
    expect(status.outages()).toEqual([])
  })

  it('are published on change, and periodically without one', async () => {
    const log = shared.open()
    const times = (count: number, report: ServiceReport) => Array.from({ length: count }, () => report)
    await publishReports(log, 'a', [...times(3, ingest(1)), ...times(12, ingest(2))])
    const published = (await log.read(STATUS_TOPIC, { from: 0 })).map(({ key, value, timestampMs }) => {
      const { chains } = JSON.parse(Buffer.from(value).toString()) as { chains: { publishedAtMs: number }[] }
      return [key, timestampMs - 1_000_000, chains[0]?.publishedAtMs]
    })
    expect(published).toEqual([
      ['ingest/a', 0, 1],
      ['ingest/a', 6_000, 2],
      ['ingest/a', 22_000, 2],
    ])
  })

  it('are retried while the log is unavailable', async () => {
    const log = shared.open()
    let tries = 0
    const shaky: EventLog = {
      ...log,
      async append(...args) {
        if (++tries < 3) throw new DextapeError({ code: 'log_away', what: 'away', retry: true })
        return log.append(...args)
      },
    }
    await publishReports(shaky, 'a', [ingest(1), ingest(1), ingest(1), ingest(1)])
    expect([tries, (await log.info(STATUS_TOPIC)).end]).toEqual([3, 1])
  })
})

describe('a replay', () => {
  const away = { epoch: 2, per_s: 0, left_s: null }

  it('is shown with its rate and the time left, as stopped once it is silent, and no more when it has ended', async () => {
    const log = shared.open()
    const reporter = createReplayReporter(log, { chain: 'eth', nowMs: () => now, deletesOlder: true })
    const folding = reporter.stage('folding', 2)
    folding.report(0, 1000)
    now += 1000
    folding.report(250, 1000)
    await vi.waitFor(async () => {
      const [eth] = (await read()).replays()
      expect(eth).toEqual({
        ...{ chain: 'eth', epoch: 2, stage: 'folding', running: true },
        ...{ done: 250, total: 1000, per_s: 250, left_s: 3 },
      })
    }, 10_000)
    now += 120_000
    expect((await read()).replays()).toEqual([
      { chain: 'eth', stage: 'folding', running: false, done: 250, total: 1000, ...away },
    ])
    await reporter.end('stopped')
    expect((await read()).replays()).toEqual([
      { chain: 'eth', stage: 'stopped', running: false, done: 250, total: 1000, ...away },
    ])
    const again = createReplayReporter(log, { chain: 'eth', nowMs: () => now, deletesOlder: true })
    again.stage('switching', 2)
    await again.end('ended')
    const status = await read()
    expect([status.replays(), status.chains()]).toEqual([[], []])
  })

  it('has metrics while it has not ended', async () => {
    const metrics = createMetrics({ processMetrics: false })
    registerReplayMetrics(metrics, () => [
      { chain: 'eth', stage: 'folding', running: true, done: 250, total: 1000, epoch: 2, per_s: 250, left_s: null },
    ])
    const text = await metrics.text()
    expect(text.split('\n').filter((line) => line.startsWith('dextape_'))).toEqual([
      'dextape_replay_done_records{chain="eth",stage="folding"} 250',
      'dextape_replay_total_records{chain="eth",stage="folding"} 1000',
      'dextape_replay_running{chain="eth",stage="folding"} 1',
    ])
  })
})
