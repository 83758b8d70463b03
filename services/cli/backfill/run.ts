/** Runs a backfill from its plan to the switch. A stopped backfill stays unfinished and resumes at the next run. */
import { type ChainSourceConfig, type Config, chainFacts } from '../../core/config/index.js'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import { DextapeError } from '../../core/domain/errors.js'
import { blocksTopic, deadTopic } from '../../core/log/port.js'
import { firstBlock } from '../../core/log/topic-records.js'
import { createBackoff, withRetry } from '../../core/runtime/backoff.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Metrics } from '../../core/runtime/metrics.js'
import type { Output } from '../../core/runtime/output.js'
import type { Health } from '../../core/runtime/part-health.js'
import type { Progress } from '../../core/runtime/progress.js'
import { EXIT } from '../../core/runtime/run-main.js'
import { warnAboutMissingHistory } from '../../processes/chain-sources/history-scope.js'
import { bookPathOf, type OpenChain } from '../../processes/chain-sources/open-chain.js'
import type { Platform } from '../../processes/platform/platform.js'
import { type BackfillRequest, planBackfill } from './backfill-generations.js'
import { writeGeneration } from './write.js'

export type BackfillDeps = {
  open: OpenChain
  platform: Platform
  config: Config
  dataDir: DataDir
  logger: Logger
  health: Health
  metrics: Metrics
  out: Output
  progress: Progress
  nowMs: () => number
}

export async function runBackfill(
  deps: BackfillDeps,
  source: ChainSourceConfig,
  request: BackfillRequest,
  signal: AbortSignal,
): Promise<number> {
  const { open, platform, config, dataDir, logger, health, metrics, out, progress, nowMs } = deps
  const { log, codec, generations } = platform
  const { chain } = source
  await generations.load()
  const before = generations.liveOf(chain)
  const plan = await planBackfill({ log, codec }, generations, chain, request, nowMs())
  if (plan === undefined) {
    await out.line(`Nothing to do: ${chain} has no dead letters with a block number`)
    return EXIT.ok
  }
  const { generation } = plan
  logger.info('backfill started', { chain, generation, live: before, from: plan.from })
  // `writeGeneration` reports progress, against the live head.
  const quiet = { logger, metrics, progressMs: Number.MAX_SAFE_INTEGER }
  const openOptions = { facts: chainFacts(config, chain), dataDir, generation, ...quiet, signal }
  const attempt = () => open({ ...openOptions, config: { ...source, start: plan.from } })
  const opened = await withRetry(attempt, createBackoff({ maxMs: 10_000 }), signal, (error) =>
    health.markUnreachable('source', error instanceof Error ? error.message : String(error)),
  )
  if (opened === undefined) return reportUnfinished(out, chain, generation)
  const firstWritten = () => firstBlock({ log, codec }, blocksTopic(chain, generation))
  warnAboutMissingHistory(
    { ...source, start: plan.from },
    await firstWritten(),
    bookPathOf(dataDir, chain, generation),
    logger,
  )
  const writing = { platform, source: opened, chain, logger, health, progress }
  const written = await writeGeneration(writing, plan, signal).finally(() => {
    progress.end()
    return opened.close?.()
  })
  if (written.outcome.kind === 'failed') {
    // Without a block there is nothing to resume.
    if ((await firstWritten()) === undefined) await generations.abandon(chain)
    throw written.outcome.error
  }
  if (!written.reached) return reportUnfinished(out, chain, generation)
  const first = await firstWritten()
  if (first === undefined) throw backfillEmpty(chain)
  if (generations.liveOf(chain) !== before) throw backfillOvertaken(chain, generations.liveOf(chain))
  await generations.makeLive(chain, { generation, from: plan.from, made: nowMs() })
  if (plan.lettersEnd !== undefined) await log.truncate(deadTopic(chain), plan.lettersEnd)
  const head = written.status.chains.get(chain)?.head?.number
  await out.line(
    `Generation ${generation} of ${chain} is live: blocks ${first.number} to ${head} (was generation ${before}).`,
  )
  await out.line('Running processes switch to it now and fold it in a new epoch; stopped ones do so when they start.')
  return EXIT.ok
}

async function reportUnfinished(out: Output, chain: string, generation: number): Promise<number> {
  await out.line(
    `Generation ${generation} of ${chain} is unfinished: run the same command to resume it, or --abandon to delete it.`,
  )
  return EXIT.failed
}

function backfillEmpty(chain: string): DextapeError {
  return new DextapeError({
    code: 'backfill_empty',
    what: `The backfill of ${chain} found nothing up to the head; the live history was kept`,
    fix: 'Delete it with --abandon, widen the scope (pools, tokens, amms) and run it again.',
  })
}

function backfillOvertaken(chain: string, live: number): DextapeError {
  return new DextapeError({
    code: 'backfill_overtaken',
    what: `Another backfill of ${chain} finished first: generation ${live} is live`,
    fix: 'Run the command again to join that generation.',
  })
}
