/** A chain on a broker is switched to its replay, and the next owner of the chain continues there. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createAggregate } from '../../services/aggregate/main.js'
import { dropReplayedRows } from '../../services/aggregate/replay/replayed-rows.js'
import { createReplayReporter } from '../../services/cli/replay/replay-report.js'
import { runReplay } from '../../services/cli/replay/run-replay.js'
import { loadConfig } from '../../services/core/config/index.js'
import { stateTopic, updatesTopic } from '../../services/core/log/port.js'
import { recordsOf } from '../../services/core/log/topic-records.js'
import { abortOf } from '../../services/core/runtime/backoff.js'
import { silentLogger } from '../../services/core/runtime/logger.js'
import type { Output } from '../../services/core/runtime/output.js'
import { createHealth } from '../../services/core/runtime/part-health.js'
import { openStore } from '../../services/core/store/clickhouse-store.js'
import type { Store } from '../../services/core/store/port.js'
import { replayDatabase } from '../../services/core/store/tables.js'
import { kafkaPlatform } from '../../services/processes/platform/kafka.js'
import type { Platform } from '../../services/processes/platform/platform.js'
import { FOLD_SETTINGS } from '../rig/aggregate/fold-lines.js'
import { appendLines } from '../rig/aggregate/pipeline-run.js'
import { logsForTests } from '../rig/kafka/logs.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { engineExpected } from '../rig/store-engine.js'
import { itWhenLong } from '../rig/suite/long-only.js'
import { openTestStore } from '../serve/rig.js'

const money = marketMoney('eth')
const { chain } = money
const other = { ...money, stables: [], majors: [] }
const SETTINGS = {
  ...{ ...FOLD_SETTINGS, flushEveryMs: 50, flushRows: 5000, checkpointEveryMs: 100, secondCandlesKeptS: 1e9 },
  ...{ updatesKeptMs: 1e12, updatesHeldMs: 0, deadKeptMs: 1e12 },
}
const lines = generateRecording({ seed: 3, chain, blocks: 40, options: { quietDay: 0, quietHour: 0 } })
const logs = logsForTests()
let directory: string
let store: Store
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'dextape-replay-kafka-'))
  store = await openTestStore(directory)
})
afterEach(async () => {
  await store?.close()
  rmSync(directory, { recursive: true, force: true })
})

function openBeside(): Promise<Store> {
  const database = replayDatabase(store.database, chain)
  if (engineExpected) return openStore({ kind: 'embedded', path: join(directory, 'store'), database })
  return openStore({ kind: 'server', url: process.env.CLICKHOUSE_URL ?? '', database })
}

function openPlatform() {
  const choice = { kind: 'kafka', brokers: [logs.brokers], prefix: logs.prefix, ssl: false } as const
  const signal = new AbortController().signal
  const config = loadConfig({ env: { KAFKA_BROKERS: logs.brokers }, cwd: directory, file: undefined })
  const deps = {
    config,
    dir: () => Promise.reject() as never,
    logger: silentLogger,
    health: createHealth({ logger: silentLogger }),
  }
  return { config, platform: kafkaPlatform({ ...choice, registry: { kind: 'in_log' } }, { ...deps, signal }) }
}

/** As a process would that is configured with the money from before the replay. `beforeInstall`: in the middle of a switch. */
function startOwner(beforeInstall: () => Promise<void> = async () => {}) {
  const { platform } = openPlatform()
  const { log, codec, generations, openState } = platform
  const aggregate = createAggregate({
    ...{ log, codec, generations, openState, store, settings: SETTINGS, logger: silentLogger, nowMs: Date.now },
    replay: {
      ...{ ...platform.replay, openStore: openBeside },
      async installState(name, epoch, open) {
        await beforeInstall()
        await platform.replay.installState(name, epoch, open)
      },
    },
    factsOf: () => money,
  })
  const stop = new AbortController()
  const ended = aggregate.runChain(chain, stop.signal)
  return {
    platform,
    async stop() {
      stop.abort()
      await ended
      await platform.close()
    },
  }
}

async function replayed(): Promise<string[]> {
  const { platform, config } = openPlatform()
  const lines: string[] = []
  const reporter = createReplayReporter(platform.log, { chain, nowMs: Date.now, deletesOlder: false })
  const stores = {
    ...{ live: store, openBeside, flushLive: async () => {}, close: async () => {} },
    drop: () => dropReplayedRows(store, chain),
  }
  const out = { line: async (text: string) => void lines.push(text) } as Output
  const deps = { platform, stores, reporter, facts: other, isServed: true, logger: silentLogger, out, nowMs: Date.now }
  const progress = () => ({ report: () => {}, end: () => {} })
  try {
    const request = { limits: undefined, isVerified: true }
    await runReplay(
      { ...deps, progress, config: { ...config, fold: FOLD_SETTINGS } },
      request,
      new AbortController().signal,
    )
  } finally {
    await reporter.end('ended')
    await platform.close()
  }
  return lines
}

async function updatesOf({ log, codec }: Pick<Platform, 'log' | 'codec'>): Promise<[epoch: number, seq: number][]> {
  const updates: [number, number][] = []
  for await (const record of recordsOf({ log, codec }, updatesTopic(chain)))
    if (record.kind === 'update') updates.push([record.update.epoch, record.update.seq])
  return updates
}

const untilLast = (platform: Platform, last: [epoch: number, seq: number]) =>
  vi.waitFor(async () => expect((await updatesOf(platform)).at(-1)).toEqual(last), { timeout: 20_000, interval: 100 })

it('in its own state topic, which replaces the live one', async () => {
  const topics = logs.open()
  const first = startOwner()
  await appendLines({ ...first.platform, facts: money, store }, lines.slice(0, 25))
  await untilLast(first.platform, [1, 25])
  expect(await replayed()).toEqual(['eth continues in epoch 2, as replayed.'])
  const states = async () => (await topics.topicNames()).filter((topic) => topic.startsWith(stateTopic(chain)))
  await vi.waitFor(async () => expect(await states()).toEqual([stateTopic(chain, 2)]), { timeout: 10_000 })
  await first.stop()
  const second = startOwner()
  await appendLines({ ...second.platform, facts: money, store }, lines.slice(25))
  await untilLast(second.platform, [2, lines.length])
  const updates = await updatesOf(second.platform)
  await second.stop()
  // The first update of the new epoch repeats the last block of the old one.
  const upTo = (from: number, to: number, epoch: number) =>
    Array.from({ length: to - from + 1 }, (_, at) => [epoch, from + at])
  expect(updates).toEqual([...upTo(1, 25, 1), ...upTo(25, lines.length, 2)])
})

itWhenLong(
  'by the next owner if the first is frozen in the middle, which changes nothing when it goes on',
  async () => {
    const [reached, released] = [new AbortController(), new AbortController()]
    const first = startOwner(async () => {
      reached.abort()
      await abortOf(released.signal)
    })
    await appendLines({ ...first.platform, facts: money, store }, lines)
    await untilLast(first.platform, [1, lines.length])
    const replaying = replayed()
    await abortOf(reached.signal)
    const second = startOwner()
    expect(await replaying).toEqual(['eth continues in epoch 2, as replayed.'])
    // It is no longer assigned the chain, and deletes nothing any more.
    const stopping = first.stop()
    released.abort()
    await stopping
    await second.platform.replay.replays.load()
    expect(second.platform.replay.replays.of(chain)?.phase).toBe('live')
    expect((await updatesOf(second.platform)).at(-1)).toEqual([2, lines.length])
    await second.stop()
  },
)
