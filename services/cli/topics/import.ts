/** `dextape topics import`: writes a recording to the log, with the validation and checkpoints of `up --events`. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { chainFacts } from '../../core/config/index.js'
import { DextapeError } from '../../core/domain/errors.js'
import { createHealth } from '../../core/runtime/part-health.js'
import { EXIT } from '../../core/runtime/run-main.js'
import { createShutdown } from '../../core/runtime/shutdown.js'
import { totals } from '../../ingest/ingest-status.js'
import { createIngest } from '../../ingest/main.js'
import { openRecording, streamRecording } from '../../ingest/sources/recording/recording.js'
import { pinnedGenerations } from '../../processes/chain-sources/open-ingests.js'
import { openPlatform } from '../../processes/platform/open-platform.js'
import { configOf, createdDir, type GlobalOptions, loggerOf, progressOf, type World } from '../context.js'

/** The longest delay of a timer. */
const NEVER_MS = 2 ** 31 - 1

export async function importRecording(world: World, file: string, options: GlobalOptions): Promise<number> {
  const config = configOf(world, options)
  const logger = loggerOf(world, config)
  const progress = progressOf(world, logger, { message: 'importing', unit: 'bytes' })
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size
  const size = file === '-' ? undefined : sizeOf(resolve(world.cwd, file))
  const onRead = (bytes: number) => progress.report(bytes, size)
  const recording = { logger, family: (chain: string) => chainFacts(config, chain).family, onRead }
  const source =
    file === '-'
      ? await streamRecording(world.stdin, 'stdin', recording)
      : await openRecording(resolve(world.cwd, file), recording)
  const health = createHealth({ parts: ['log'], logger })
  const shutdown = createShutdown(logger)
  const platform = await openPlatform({
    config,
    dir: () => createdDir(config),
    logger,
    health,
    signal: shutdown.signal,
  })
  try {
    await platform.claimOrigin(source.claim)
    const checkpoints = await platform.checkpointsFor(source)
    try {
      const { log, codec, generations } = platform
      await generations.load()
      const generationOf = pinnedGenerations(generations)
      // The bar shows the progress; elsewhere, log lines of ingest also count its events.
      const progressMs = world.stderr.isTTY === true ? NEVER_MS : config.intervals.progressMs
      const ingest = createIngest({ source, log, codec, checkpoints, generationOf, logger, health, progressMs })
      const outcome = await ingest.run(shutdown.signal).finally(progress.end)
      const { blocks, retracts, events, deadLetters } = totals(ingest.status)
      await world.out.line(
        `${outcome.kind}: ${blocks} blocks, ${retracts} retracts, ${events} events, ${deadLetters} dead letters`,
      )
      if (outcome.kind !== 'done') return EXIT.failed
      if (blocks + retracts === 0 && deadLetters > 0) throw nothingImported(source.name, deadLetters)
      return EXIT.ok
    } finally {
      await checkpoints.close()
    }
  } finally {
    await platform.close()
    shutdown.done()
  }
}

function nothingImported(file: string, deadLetters: number): DextapeError {
  return new DextapeError({
    code: 'nothing_imported',
    what: `Nothing was imported from ${file}: no line is a block, ${deadLetters} became dead letters`,
    fix: 'List the reasons with `dextape dead ls --letters 5`.',
  })
}
