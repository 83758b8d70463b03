/** A chain whose head moves on command, with its ingest and its backfill, on any platform. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BackfillRequest } from '../../../services/cli/backfill/backfill-generations.js'
import { runBackfill } from '../../../services/cli/backfill/run.js'
import { type EvmSourceConfig, loadConfig } from '../../../services/core/config/index.js'
import { type DataDir, openDataDir } from '../../../services/core/data-dir/data-dir.js'
import { silentLogger } from '../../../services/core/runtime/logger.js'
import { createMetrics } from '../../../services/core/runtime/metrics.js'
import type { Output } from '../../../services/core/runtime/output.js'
import { createHealth } from '../../../services/core/runtime/part-health.js'
import type { Ingests } from '../../../services/processes/chain-sources/chain-ingest.js'
import type { OpenChain } from '../../../services/processes/chain-sources/open-chain.js'
import { openChainIngests } from '../../../services/processes/chain-sources/open-ingests.js'
import { openPlatform } from '../../../services/processes/platform/open-platform.js'
import type { Platform } from '../../../services/processes/platform/platform.js'
import { acceptedBlocks, type RecordingLine } from '../reference/lines.js'
import { heldLive } from './log-contents.js'
import { openMovingChain } from './moving-chain.js'

export type ChainWorldPlan = {
  lines: readonly RecordingLine[]
  /** The first block to follow. */
  start: number
  trueLines: number
  /** Further settings of the configuration file. */
  settings?: Record<string, unknown>
}

export type ChainWorld = {
  dir: DataDir
  /** How many lines have happened. */
  trueLines: number
  printed: string[]
  out: Output
  platform: Platform
  /** A source over the lines that have happened. */
  openAt(trueLines: () => number, other?: readonly RecordingLine[]): OpenChain
  /** Ingests the chain as `up` does. */
  follow(open?: OpenChain): Promise<{ ingests: Ingests; end(): Promise<unknown> }>
  backfill(wanted?: Partial<BackfillRequest>, signal?: AbortSignal, open?: OpenChain): Promise<number>
  untilLiveAt(trueLines: number): Promise<void>
  close(): Promise<void>
}

export async function until(what: string, check: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + 30_000
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`never ${what}`)
    await new Promise((next) => setTimeout(next, 5))
  }
}

export async function newChainWorld({ lines, start, trueLines, settings }: ChainWorldPlan): Promise<ChainWorld> {
  const chain = lines[0]?.chain ?? ''
  const dir = openDataDir(mkdtempSync(join(tmpdir(), 'dextape-chain-')))
  const file = join(dir.path, 'settings.json')
  if (settings !== undefined) writeFileSync(file, JSON.stringify(settings))
  const configuration = settings === undefined ? {} : { DEXTAPE_CONFIG: file }
  const nodes = { [`DEXTAPE_RPC_${chain.toUpperCase()}`]: 'http://127.0.0.1:1', ...configuration }
  const config = loadConfig({ env: nodes, cwd: dir.path, chains: { [chain]: { start } } })
  const source = config.sources.get(chain) as EvmSourceConfig
  const closing: (() => Promise<unknown>)[] = []
  const health = createHealth({ logger: silentLogger })
  const printed: string[] = []
  const line = async (text: string) => void printed.push(text)
  const out: Output = { line, json: (value) => line(JSON.stringify(value)), table: async () => {} }

  const newPlatform = async (): Promise<Platform> => {
    const stop = new AbortController()
    const platform = await openPlatform({ config, dir: () => dir, logger: silentLogger, health, signal: stop.signal })
    closing.push(() => platform.close())
    return platform
  }

  // Two writers of one embedded log in one process deadlock: its transactions call back into JavaScript.
  const otherPlatform = async () => (config.log.kind === 'embedded' ? world.platform : newPlatform())

  const parts = (platform: Platform) => ({
    ...{ platform, config, dataDir: dir, logger: silentLogger, health },
    metrics: createMetrics({ processMetrics: false }),
  })

  const openAt: ChainWorld['openAt'] =
    (trueNow, other = lines) =>
    async ({ config: { start: from } }) =>
      openMovingChain({ lines: other, family: 'evm', trueLines: trueNow, start: from }, `moving:${chain}`)

  const world: ChainWorld = {
    ...{ dir, trueLines, printed, out, platform: await newPlatform(), openAt },
    async follow(open = openAt(() => world.trueLines)) {
      const stop = new AbortController()
      const ingests = await openChainIngests([source], { ...parts(await otherPlatform()), open }, stop.signal)
      const running = ingests.run(stop.signal)
      const end = () => {
        stop.abort()
        return running
      }
      closing.push(end)
      return { ingests, end }
    },
    backfill(wanted = {}, signal = new AbortController().signal, open = openAt(() => world.trueLines)) {
      const progress = { report: () => {}, end: () => {} }
      const deps = { ...parts(world.platform), open, out, progress, nowMs: Date.now }
      return runBackfill(deps, source, { from: undefined, dead: false, ...wanted }, signal)
    },
    untilLiveAt: (reached) =>
      until(`at line ${reached}`, async () => {
        const { hashes } = await heldLive(world.platform, chain)
        return hashes.at(-1) === acceptedBlocks(lines.slice(0, reached)).at(-1)?.hash
      }),
    async close() {
      for (const close of closing.splice(0).reverse()) await close()
    },
  }
  return world
}
