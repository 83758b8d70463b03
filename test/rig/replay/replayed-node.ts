/** A fold, a serving node and the replay command on one log and store, in one process. The fold can be made to crash and start again. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { openStateStore } from '../../../services/aggregate/checkpoint/state-store.js'
import { type AggregateSettings, createAggregate } from '../../../services/aggregate/main.js'
import type { ReplayParts } from '../../../services/aggregate/replay/replay-parts.js'
import { dropReplayedRows } from '../../../services/aggregate/replay/replayed-rows.js'
import { createReplayReporter } from '../../../services/cli/replay/replay-report.js'
import {
  type ReplayPlatform,
  type ReplayRequest,
  type RunReplayDeps,
  runReplay,
} from '../../../services/cli/replay/run-replay.js'
import { verifyRows, verifyUpdates } from '../../../services/cli/verify/compare.js'
import { refold } from '../../../services/cli/verify/refold.js'
import { loadConfig } from '../../../services/core/config/index.js'
import { createGenerations } from '../../../services/core/coordination/generations.js'
import { createReplays, type Replays } from '../../../services/core/coordination/replays.js'
import { openDataDir } from '../../../services/core/data-dir/data-dir.js'
import type { ChainFacts } from '../../../services/core/domain/chains.js'
import type { BlockUpdate } from '../../../services/core/domain/records.js'
import type { EventLog } from '../../../services/core/log/port.js'
import { updatesTopic } from '../../../services/core/log/port.js'
import { recordsOf } from '../../../services/core/log/topic-records.js'
import { silentLogger } from '../../../services/core/runtime/logger.js'
import type { Output } from '../../../services/core/runtime/output.js'
import { rowVersion } from '../../../services/core/store/tables.js'
import { installReplayState } from '../../../services/processes/platform/embedded.js'
import { openTestStore, openTestStoreBeside, startRig } from '../../serve/rig.js'
import { FOLD_SETTINGS } from '../aggregate/fold-lines.js'
import { appendLines } from '../aggregate/pipeline-run.js'
import type { RecordingLine } from '../reference/lines.js'

const SETTINGS: AggregateSettings = {
  ...FOLD_SETTINGS,
  ...{ flushEveryMs: 30, flushRows: 5000, checkpointEveryMs: 60 },
  ...{ updatesKeptMs: 1e12, updatesHeldMs: 0, deadKeptMs: 1e12, secondCandlesKeptS: 1e9 },
}

export class Crash extends Error {}

export type ReplayedNode = Awaited<ReturnType<typeof openReplayedNode>>

export async function openReplayedNode() {
  const directory = mkdtempSync(join(tmpdir(), 'dextape-replay-'))
  const dir = openDataDir(join(directory, 'data'))
  const store = await openTestStore(directory)
  const rig = await startRig({ store })
  await rig.start()
  const { log, codec } = rig
  const generations = createGenerations(log)
  const config = loadConfig({ env: { DEXTAPE_DATA_DIR: dir.path }, cwd: directory, file: undefined })
  const facts = new Map<string, ChainFacts>()
  const openBeside = (chain: string) => openTestStoreBeside(directory, store, chain)

  function platformOf(replays: Replays): ReplayPlatform {
    return {
      ...{ log, codec, generations, updatesHeldMs: 0 },
      openState: (chain: string) => openStateStore(join(dir.statePath, chain)),
      replay: {
        replays,
        openState: (chain: string) => openStateStore(join(dir.replayPath, chain)),
        installState: (chain, _epoch, open) => installReplayState(dir, chain, open),
        dropState: async (chain: string) => rmSync(join(dir.replayPath, chain), { recursive: true, force: true }),
        dropReplacedState: async () => {},
      },
    }
  }

  /**
   * Folds a chain until it is stopped. `crashAt`: at this step of a switch it crashes, and is started again as after a kill.
   * `beforeRows`: when a replay that is ready is opened.
   */
  function fold(chain: string, crashAt = -1, beforeRows: () => Promise<void> = async () => {}) {
    const stop = new AbortController()
    let step = 0
    let crashes = 0
    const beat = () => {
      if (step++ === crashAt) throw new Crash(`at step ${crashAt}`)
    }

    async function runOnce(): Promise<void> {
      const replays = createReplays(log)
      const platform = platformOf(replays)
      const crashing = {
        replays: {
          ...replays,
          put: async (name, replay) => {
            beat()
            return replays.put(name, replay)
          },
          putWithMoney: async (name, replay, money) => {
            beat()
            return replays.putWithMoney(name, replay, money)
          },
        },
        ...{ openState: platform.replay.openState, dropState: platform.replay.dropState },
        dropReplacedState: platform.replay.dropReplacedState,
        installState: async (name, _epoch, open) => {
          beat()
          await installReplayState(dir, name, open)
        },
        openStore: (name) => beforeRows().then(() => openBeside(name)),
      } as ReplayParts
      const isSwitching = () => ['switching', 'cleaning'].includes(replays.of(chain)?.phase ?? '')
      const aggregate = createAggregate({
        ...{ codec, generations, replay: crashing, settings: SETTINGS, logger: silentLogger, nowMs: Date.now },
        log: {
          ...log,
          append: async (topic, entries) => {
            if (isSwitching()) beat()
            return log.append(topic, entries)
          },
        } as EventLog,
        store: {
          ...store,
          command: async (sql, params) => {
            if (isSwitching()) beat()
            return store.command(sql, params)
          },
        },
        openState: platform.openState,
        factsOf: (name) => facts.get(name) as ChainFacts,
        ownsStore: true,
      })
      try {
        await aggregate.runChain(chain, stop.signal)
      } finally {
        await replays.close()
      }
    }

    async function run(): Promise<void> {
      while (!stop.signal.aborted) {
        try {
          await runOnce()
        } catch (error) {
          if (!(error instanceof Crash)) throw error
          crashes += 1
        }
      }
    }
    const ended = run()
    return {
      get crashes() {
        return crashes
      },
      async stop() {
        stop.abort()
        await ended
      },
    }
  }

  /** Runs the command; `money`: what the configuration file says now. */
  async function replay(
    money: ChainFacts,
    request: Partial<ReplayRequest> = {},
    given: Partial<RunReplayDeps> = {},
    signal: AbortSignal = new AbortController().signal,
  ) {
    const { chain } = money
    const replays = createReplays(log)
    const lines: string[] = []
    const out = {
      line: async (text: string) => void lines.push(text),
      table: async (_header: readonly string[], rows: readonly (readonly (string | number)[])[]) =>
        void lines.push(...rows.map((row) => row.join(' '))),
    } as Output
    const beside = {
      live: store,
      openBeside: () => openBeside(chain),
      flushLive: async () => {},
      drop: () => dropReplayedRows(store, chain),
      close: async () => {},
    }
    const reporter = createReplayReporter(log, { chain, nowMs: Date.now, deletesOlder: true })
    const deps: RunReplayDeps = {
      reporter,
      ...{ platform: platformOf(replays), stores: beside, config: { ...config, fold: FOLD_SETTINGS } },
      ...{ facts: money, isServed: true, logger: silentLogger, out, nowMs: Date.now },
      progress: () => ({ report: () => {}, end: () => {} }),
      ...given,
    }
    try {
      const code = await runReplay(deps, { limits: undefined, isVerified: false, ...request }, signal)
      return { code, lines }
    } finally {
      await reporter.end('ended')
      await replays.close()
    }
  }

  /** What `dextape verify` finds. */
  async function wrongRows(money: ChainFacts): Promise<string[]> {
    const { chain } = money
    const [row] = await store.query<{ epoch: string; seq: string }>(
      'SELECT epoch, seq FROM progress_rows FINAL WHERE chain = {chain:String}',
      { chain },
    )
    const stored = { epoch: Number(row?.epoch), seq: Number(row?.seq) }
    const expected = await refold({ log, codec }, money, FOLD_SETTINGS, stored, () => {})
    const rows = await verifyRows(store, expected, String(rowVersion(stored.epoch, stored.seq)), () => {})
    return [await verifyUpdates({ log, codec }, expected, () => {}), ...rows].flatMap(({ what, wrong }) =>
      wrong.map((line) => `${what} ${line}`),
    )
  }

  async function updatesOf(chain: string): Promise<BlockUpdate[]> {
    const updates: BlockUpdate[] = []
    const topic = updatesTopic(chain)
    for await (const record of recordsOf({ log, codec }, topic, (await log.info(topic)).end))
      if (record.kind === 'update') updates.push(record.update)
    return updates
  }

  return {
    ...{ rig, store, dir, fold, replay, wrongRows, updatesOf },
    replays: () => createReplays(log),
    untilServed: (chain: string, seq: number) =>
      vi.waitFor(
        async () => {
          const served = (await rig.serve.status()).chains.find((one) => one.chain === chain)
          if (served?.seq !== seq) throw new Error(`${chain} is served up to seq ${served?.seq} of ${seq}`)
        },
        { timeout: 20_000, interval: 30 },
      ),
    addChain: (money: ChainFacts) => void facts.set(money.chain, money),
    append: (money: ChainFacts, lines: readonly RecordingLine[]) => appendLines({ ...rig, facts: money }, lines),
    async stop() {
      await generations.close()
      await rig.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
