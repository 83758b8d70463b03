/** `dextape replay`: folds a chain's log again beside the live tables, then switches to the result. */
import { Option } from 'commander'
import { chainFacts } from '../../core/config/index.js'
import type { ReplayLimits } from '../../core/coordination/replays.js'
import { lockDataDir, lockHolder, lockReplay } from '../../core/data-dir/lock.js'
import { normalAddress } from '../../core/domain/chains.js'
import { createHealth } from '../../core/runtime/part-health.js'
import { EXIT } from '../../core/runtime/run-main.js'
import { createShutdown } from '../../core/runtime/shutdown.js'
import {
  type Cli,
  configOfExistingData,
  existingDir,
  type GlobalOptions,
  loggerOf,
  progressOf,
  type World,
} from '../context.js'
import { parseTime } from '../option-values.js'
import { lowerPriority } from './low-priority.js'

export type ReplayOptions = GlobalOptions & {
  chain: string
  pair?: string[]
  fromTime?: string
  toTime?: string
  verify: boolean
  fromCheckpoint?: boolean
  abandon?: boolean
}

export function addReplay({ program, world, act }: Cli): void {
  program
    .command('replay')
    .description("Fold a chain's log again beside the live tables, then switch to the result")
    .requiredOption('--chain <chain>', 'Chain to replay')
    .option('--pair <pair...>', 'Write only rows of these pairs, and compare them instead of switching')
    .option('--from-time <when>', 'Write only rows from this time on (2024-01-05T12:00, UTC), and compare them')
    .option('--to-time <when>', 'Write only rows up to this time, and compare them')
    .addOption(
      new Option('--from-checkpoint', 'Continue with new money tokens that the chain has not traded yet').conflicts([
        ...['pair', 'fromTime', 'toTime', 'verify'],
      ]),
    )
    .option('--no-verify', 'Switch without folding a second time to check the rows')
    .addOption(
      new Option('--abandon', 'Delete the unfinished replay').conflicts([
        ...['pair', 'fromTime', 'toTime', 'verify', 'fromCheckpoint'],
      ]),
    )
    .addHelpText(
      'after',
      [
        '\nUses the rules of this version and the money tokens of the configuration file as it is now. Runs while `up` or a cluster',
        'runs: clients stay connected, and a gap notice tells them of the new epoch. If stopped, the same command resumes it.',
        'Needs room for a second copy of the chain’s rows. On a cluster, run it anywhere; a second one takes over.',
        '\nExamples:',
        '  dextape replay --chain eth',
        '  dextape replay --chain eth --pair 0x7f06…7966 --from-time 2024-01-05 --to-time 2024-01-06',
        '  dextape replay --chain eth --abandon',
      ].join('\n'),
    )
    .action(act<ReplayOptions>((options) => runReplayCommand(world, options)))
}

export async function runReplayCommand(world: World, options: ReplayOptions): Promise<number> {
  lowerPriority()
  const { chain } = options
  const config = configOfExistingData(world, options)
  const facts = chainFacts(config, chain)
  const limits = limitsOf(options, (address) => normalAddress(facts.family, address))
  const isCluster = config.log.kind === 'kafka'
  const dir = isCluster && config.store.kind === 'clickhouse' ? undefined : existingDir(config)
  const logger = loggerOf(world, config)
  const [
    { openPlatform },
    { openReplayStores },
    { runReplay, abandonReplay },
    { createReplayReporter },
    { appendToUp },
  ] = await Promise.all([
    import('../../processes/platform/open-platform.js'),
    import('./replay-stores.js'),
    import('./run-replay.js'),
    import('./replay-report.js'),
    import('../../core/store/local-store.js'),
  ])
  // On a cluster a second replay takes over, and the first one fails.
  const lock = isCluster || dir === undefined ? undefined : lockReplay(dir, chain)
  // Without a running `up` this process does what `up` would, and none may start meanwhile.
  const isServed = isCluster || dir === undefined || lockHolder(dir) !== undefined
  const dirLock = isServed ? undefined : lockDataDir(dir)
  const isWrittenByUp = isServed && !isCluster && dir !== undefined && config.store.kind === 'embedded'
  const shutdown = createShutdown(logger)
  try {
    const health = createHealth({ parts: ['log', 'store'], logger })
    const platform = await openPlatform({
      ...{ config, logger, health, signal: shutdown.signal },
      dir: () => dir ?? existingDir(config),
      // The log has one writer at a time: `up` would wait for this process, which has the CPU last.
      ...(isWrittenByUp && { appendThrough: appendToUp(dir.path) }),
    })
    const stores = await openReplayStores(config, dir, chain)
    const deletesOlder = !isCluster && !isWrittenByUp
    const reporter = createReplayReporter(platform.log, { chain, nowMs: world.nowMs, deletesOlder })
    let isEnded = false
    try {
      const parts = {
        reporter,
        platform,
        stores,
        config,
        facts,
        isServed,
        logger,
        out: world.out,
        nowMs: world.nowMs,
      }
      const what = { fields: { chain }, everyMs: config.intervals.progressMs }
      const progress = (unit: 'records' | 'updates') =>
        progressOf(world, logger, {
          ...what,
          ...{ unit, message: unit === 'records' ? 'replay progress' : 'checking the replay' },
        })
      const code = options.abandon
        ? await abandonReplay(parts)
        : await runReplay(
            { ...parts, progress },
            { limits, isVerified: options.verify, fromCheckpoint: options.fromCheckpoint === true },
            shutdown.signal,
          )
      isEnded = code === EXIT.ok
      return code
    } finally {
      await reporter.end(isEnded ? 'ended' : 'stopped')
      await stores.close()
      await platform.close()
    }
  } finally {
    dirLock?.release()
    lock?.release()
    shutdown.done()
  }
}

function limitsOf(options: ReplayOptions, normal: (address: string) => string): ReplayLimits | undefined {
  const { pair, fromTime, toTime } = options
  if (pair === undefined && fromTime === undefined && toTime === undefined) return undefined
  return {
    ...(pair === undefined ? {} : { pairs: pair.map(normal).sort() }),
    ...(fromTime === undefined ? {} : { fromS: parseTime('--from-time', fromTime) / 1000 }),
    ...(toTime === undefined ? {} : { toS: parseTime('--to-time', toTime) / 1000 }),
  }
}
