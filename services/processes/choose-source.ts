/** Chooses the source that `up` reads, and its data directory. */
import type { ChainSourceConfig, Config } from '../core/config/index.js'
import { type Claim, claimOf } from '../core/data-dir/origin.js'
import { claimOfRecording } from '../ingest/sources/recording/recording.js'
import type { RequestedSource } from './process-options.js'

/** `none`: existing data is served, without new blocks. */
export type ChosenSource = OneSource | { kind: 'chains'; sources: readonly ChainSourceConfig[] } | { kind: 'none' }
export type OneSource = { kind: 'recording'; file: string } | { kind: 'simulator' }

export type Choice = { source: ChosenSource; dataDir: string; claim: Claim }

/** A pair that trades all the time. */
export type ExamplePair = { chain: string; pair: string }

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
