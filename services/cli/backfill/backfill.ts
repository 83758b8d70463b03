/** `dextape backfill`: a chain's history anew, longer or decoded by today's rules, beside the live one until it takes its place. */

import { readStart } from '../../core/config/index.js'
import { lockBackfill } from '../../core/data-dir/lock.js'
import { ConfigError } from '../../core/domain/errors.js'
import { createMetrics } from '../../core/runtime/metrics.js'
import { createHealth } from '../../core/runtime/part-health.js'
import { EXIT } from '../../core/runtime/run-main.js'
import { createShutdown } from '../../core/runtime/shutdown.js'
import { type OpenChain, openChain } from '../../processes/chain-sources/open-chain.js'
import { openPlatform } from '../../processes/platform/open.js'
import { type ChainOptions, chainSections, sourcesAsked } from '../chain-options.js'
import { configOf, existingDir, type GlobalOptions, loggerOf, ownDir, type World } from '../context.js'
import { abandonGeneration, dropOldGenerations } from './old-generations.js'
import type { Wanted } from './plan.js'
import { runBackfill } from './run.js'

export type BackfillOptions = GlobalOptions &
  Omit<ChainOptions, 'start'> & { chain: string; from?: string; dead?: boolean; abandon?: boolean; dropOld?: boolean }

/** `open`: how a chain's nodes are read, where not as usual. */
export async function backfill(world: World, options: BackfillOptions, open: OpenChain = openChain): Promise<number> {
  const { chain, abandon, dropOld } = options
  const wanted = wantedOf(options)
  const config = configOf(world, options, { chains: chainSections(options) })
  const logger = loggerOf(world, config)
  const isEmbedded = config.log.kind === 'embedded'
  const dataDir = isEmbedded ? existingDir(config) : ownDir(config)
  // On a cluster whoever comes second takes over, and the first one finds out.
  const lock = isEmbedded ? lockBackfill(dataDir, chain) : undefined
  const shutdown = createShutdown(logger)
  try {
    const health = createHealth({ parts: ['log', 'source'], logger })
    const platform = await openPlatform({ config, dir: () => dataDir, logger, health, signal: shutdown.signal })
    try {
      if (abandon === true) await abandonGeneration(platform, chain, world.out)
      if (dropOld === true) await dropOldGenerations(platform, chain, world.out)
      if (abandon === true || dropOld === true) return EXIT.ok
      const [source] = sourcesAsked(config, chain)
      if (source === undefined) return EXIT.config
      await platform.claimOrigin({ origin: 'real' })
      const parts = { platform, config, dataDir, logger, health, metrics: createMetrics(), out: world.out }
      return await runBackfill({ ...parts, open, nowMs: world.nowMs }, source, wanted, shutdown.signal)
    } finally {
      await platform.close()
    }
  } finally {
    lock?.release()
    shutdown.done()
  }
}

function wantedOf({ from: text, dead = false }: BackfillOptions): Wanted {
  if (text === undefined) return { from: undefined, dead }
  const from = readStart(text)
  if (from !== undefined && from.kind !== 'latest') return { from, dead }
  throw new ConfigError({
    code: 'option_invalid',
    what: '--from is not valid',
    expected: 'a date (2024-01-05 or 2024-01-05T12:00, UTC) or a block number',
    got: JSON.stringify(text),
  })
}
