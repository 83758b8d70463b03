/** `dextape backfill`: writes a chain's history again, longer or with newer decoders, beside the live one, then switches to it. */
import { Option } from 'commander'
import { readStart } from '../../core/config/index.js'
import { lockBackfill } from '../../core/data-dir/lock.js'
import { createHealth } from '../../core/runtime/part-health.js'
import { EXIT } from '../../core/runtime/run-main.js'
import { createShutdown } from '../../core/runtime/shutdown.js'
import type { OpenChain } from '../../processes/chain-sources/open-chain.js'
import { addNodeOptions, type ChainOptions, chainSections, selectSources } from '../chain-options.js'
import {
  type Cli,
  configOf,
  createdDir,
  existingDir,
  type GlobalOptions,
  loggerOf,
  progressOf,
  type World,
} from '../context.js'
import { invalidOption } from '../option-values.js'
import type { BackfillRequest } from './backfill-generations.js'

export type BackfillOptions = GlobalOptions &
  Omit<ChainOptions, 'start'> & { chain: string; from?: string; dead?: boolean; abandon?: boolean; dropOld?: boolean }

export function addBackfill({ program, world, act }: Cli): void {
  const backfill = program
    .command('backfill')
    .description("Rebuild a chain's history beside the live one, then switch to it")
    .requiredOption('--chain <chain>', 'Chain to backfill')
    .option(
      '--from <when>',
      'First block: a date (2024-01-05T12:00, UTC) or a number (default: as in the live history)',
    )
    .addOption(
      new Option('--dead', 'Retry dead letters; they are deleted when the backfill succeeds').conflicts('from'),
    )
  addNodeOptions(backfill)
    .addOption(new Option('--abandon', 'Delete the unfinished backfill').conflicts(['from', 'dead']))
    .addOption(new Option('--drop-old', 'Delete the blocks of earlier generations').conflicts(['from', 'dead']))
    .addHelpText(
      'after',
      [
        '\nRuns while `up` or a cluster runs. If stopped, the same command resumes it.',
        'Use the same pools, tokens and exchanges as the running chain, which continues from the end of the backfill.',
        '\nExamples:',
        '  dextape backfill --chain base --from 2024-01-05',
        '  dextape backfill --chain base --dead',
        '  dextape backfill --chain base --drop-old',
      ].join('\n'),
    )
    .action(act<BackfillOptions>((options) => runBackfillCommand(world, options)))
}

/** `open`: replaces how the nodes of a chain are opened. */
export async function runBackfillCommand(world: World, options: BackfillOptions, open?: OpenChain): Promise<number> {
  const { chain, abandon, dropOld } = options
  const request = readRequest(options)
  const config = configOf(world, options, { chains: chainSections(options) })
  const logger = loggerOf(world, config)
  const isEmbedded = config.log.kind === 'embedded'
  const dataDir = isEmbedded ? existingDir(config) : createdDir(config)
  const [{ createMetrics }, { openChain }, { openPlatform }, { runBackfill }, oldGenerations] = await Promise.all([
    import('../../core/runtime/metrics.js'),
    import('../../processes/chain-sources/open-chain.js'),
    import('../../processes/platform/open-platform.js'),
    import('./run.js'),
    import('./backfill-generations.js'),
  ])
  // On a cluster a second backfill takes over, and the first one fails.
  const lock = isEmbedded ? lockBackfill(dataDir, chain) : undefined
  const shutdown = createShutdown(logger)
  try {
    const health = createHealth({ parts: ['log', 'source'], logger })
    const platform = await openPlatform({ config, dir: () => dataDir, logger, health, signal: shutdown.signal })
    try {
      if (abandon === true) await oldGenerations.abandonGeneration(platform, chain, world.out)
      if (dropOld === true) await oldGenerations.dropOldGenerations(platform, chain, world.out)
      if (abandon === true || dropOld === true) return EXIT.ok
      const [source] = selectSources(config, chain)
      if (source === undefined) return EXIT.config
      await platform.claimOrigin({ origin: 'real' })
      const everyMs = config.intervals.progressMs
      const what = { message: 'backfill progress', unit: 'blocks', fields: { chain }, everyMs }
      const progress = progressOf(world, logger, what)
      const parts = { platform, config, dataDir, logger, health, progress, metrics: createMetrics(), out: world.out }
      return await runBackfill(
        { ...parts, open: open ?? openChain, nowMs: world.nowMs },
        source,
        request,
        shutdown.signal,
      )
    } finally {
      await platform.close()
    }
  } finally {
    lock?.release()
    shutdown.done()
  }
}

function readRequest({ from: text, dead = false }: BackfillOptions): BackfillRequest {
  if (text === undefined) return { from: undefined, dead }
  const from = readStart(text)
  if (from !== undefined && from.kind !== 'latest') return { from, dead }
  throw invalidOption('--from', 'a date (2024-01-05 or 2024-01-05T12:00, UTC) or a block number', text)
}
