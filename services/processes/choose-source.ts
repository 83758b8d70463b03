/** Which source `up` reads, in which directory, and that source opened. */
import { type ChainSourceConfig, type Config, chainFacts } from '../core/config/index.js'
import type { DataDir } from '../core/data-dir/data-dir.js'
import { type Claim, claimOf } from '../core/data-dir/origin.js'
import { sleep } from '../core/runtime/backoff.js'
import type { Logger } from '../core/runtime/logger.js'
import type { Source } from '../ingest/source.js'
import type { Speed } from '../ingest/sources/recording/pace.js'
import { claimOfRecording, openRecording } from '../ingest/sources/recording/recording.js'
import { flagships, openSimulator } from '../ingest/sources/simulator/simulator.js'
import { fileSnapshots } from '../ingest/sources/simulator/snapshot-file.js'
import type { AskedSource } from './process-options.js'

/** `none`: what is there is served, nothing new comes. */
export type ChosenSource = OneSource | { kind: 'chains'; sources: readonly ChainSourceConfig[] } | { kind: 'none' }
type OneSource = { kind: 'recording'; file: string } | { kind: 'simulator' }

export type Choice = { source: ChosenSource; dataDir: string; claim: Claim }

/** Chains the simulator plays. */
export const SIMULATED_CHAINS = ['eth', 'bsc', 'solana']

export async function chooseSource(config: Config, asked: AskedSource): Promise<Choice> {
  if (asked.kind === 'chains') return { source: asked, dataDir: config.dataDir, claim: { origin: 'real' } }
  if (asked.kind === 'recording')
    return { source: asked, dataDir: config.dataDir, claim: await claimOfRecording(asked.file) }
  const dataDir = config.simulatedDataDir
  const held = claimOf(dataDir)
  const isLiveMarket = held === undefined || (held.origin === 'simulated' && held.isRecorded !== true)
  // Other data is served without a source; asking for a simulation in its place is refused where the directory is claimed.
  return isLiveMarket || asked.wantsSimulation
    ? { source: { kind: 'simulator' }, dataDir, claim: { origin: 'simulated', seed: config.simulator.seed } }
    : { source: { kind: 'none' }, dataDir, claim: held }
}

export type OpenedSource = {
  source: Source
  /** A pair that trades all the time, where the source knows one. */
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
