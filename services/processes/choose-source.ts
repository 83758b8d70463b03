/** Chooses and opens the source that `up` reads, and its data directory. */
import { type ChainSourceConfig, type Config, chainFacts } from '../core/config/index.js'
import type { DataDir } from '../core/data-dir/data-dir.js'
import { type Claim, claimOf } from '../core/data-dir/origin.js'
import { sleep } from '../core/runtime/backoff.js'
import type { Logger } from '../core/runtime/logger.js'
import type { Source } from '../ingest/source.js'
import { claimOfRecording, openRecording, type Speed } from '../ingest/sources/recording/recording.js'
import { fileSnapshots } from '../ingest/sources/simulator/market-snapshots.js'
import { flagships, openSimulator } from '../ingest/sources/simulator/simulator.js'
import type { RequestedSource } from './process-options.js'

/** `none`: existing data is served, without new blocks. */
export type ChosenSource = OneSource | { kind: 'chains'; sources: readonly ChainSourceConfig[] } | { kind: 'none' }
type OneSource = { kind: 'recording'; file: string } | { kind: 'simulator' }

export type Choice = { source: ChosenSource; dataDir: string; claim: Claim }

/** Chains of the simulated market. */
export const SIMULATED_CHAINS = ['eth', 'bsc', 'solana']

export async function chooseSource(config: Config, requested: RequestedSource): Promise<Choice> {
  if (requested.kind === 'chains') return { source: requested, dataDir: config.dataDir, claim: { origin: 'real' } }
  if (requested.kind === 'recording')
    return { source: requested, dataDir: config.dataDir, claim: await claimOfRecording(requested.file) }
  const dataDir = config.simulatedDataDir
  const held = claimOf(dataDir)
  const isLiveMarket = held === undefined || (held.origin === 'simulated' && held.isRecorded !== true)
  // Other data is served without a source. A simulation requested on top of it fails when it claims the directory.
  return isLiveMarket || requested.wantsSimulation
    ? { source: { kind: 'simulator' }, dataDir, claim: { origin: 'simulated', seed: config.simulator.seed } }
    : { source: { kind: 'none' }, dataDir, claim: held }
}

export type OpenedSource = {
  source: Source
  /** A pair that trades all the time, if the source knows one. */
  example?: ExamplePair | undefined
}

export type ExamplePair = { chain: string; pair: string }

type OpenOptions = {
  config: Config
  logger: Logger
  speed: Speed
  dataDir: DataDir
  onHistory: (done: number) => void
}

export async function openSource(
  chosen: OneSource,
  { config, logger, speed, dataDir, onHistory }: OpenOptions,
): Promise<OpenedSource> {
  switch (chosen.kind) {
    case 'recording': {
      const family = (chain: string) => chainFacts(config, chain).family
      return { source: await openRecording(chosen.file, { family, logger, speed }) }
    }
    case 'simulator': {
      const chains = SIMULATED_CHAINS.map((chain) => chainFacts(config, chain))
      const source = openSimulator({
        ...config.simulator,
        chains,
        snapshots: fileSnapshots(dataDir),
        nowMs: Date.now,
        sleep,
        onHistory,
      })
      return { source, example: flagships(config.simulator.seed, chains)[0] }
    }
  }
}
