/** Opens a recording or the simulated market. Each is loaded when it is opened: the start of a thread waits for the import. */
import { chainFacts } from '../../core/config/chain-facts.js'
import type { Config } from '../../core/config/index.js'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import { sleep } from '../../core/runtime/backoff.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Source } from '../../ingest/source.js'
import type { Speed } from '../../ingest/sources/recording/recording.js'
import type { ExamplePair, OneSource } from '../choose-source.js'

/** Chains of the simulated market. */
export const SIMULATED_CHAINS = ['eth', 'bsc', 'solana']

export type OpenedSource = {
  source: Source
  /** A pair that trades all the time, if the source knows one. */
  example?: ExamplePair | undefined
}

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
      const { openRecording } = await import('../../ingest/sources/recording/recording.js')
      return { source: await openRecording(chosen.file, { family, logger, speed }) }
    }
    case 'simulator': {
      const { fileSnapshots } = await import('../../ingest/sources/simulator/market-snapshots.js')
      const { flagships, openSimulator } = await import('../../ingest/sources/simulator/simulator.js')
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
