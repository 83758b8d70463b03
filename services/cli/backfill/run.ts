/** A backfill from its plan to the switch. Stopped in between it is unfinished, and goes on when it is started again. */
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
import { EXIT } from '../../core/runtime/run-main.js'
import { tellWhatHistoryLacks } from '../../processes/chain-sources/kept-scope.js'
import { bookPathOf, type OpenChain } from '../../processes/chain-sources/open-chain.js'
import type { Platform } from '../../processes/platform/platform.js'
import { planBackfill, type Wanted } from './plan.js'
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
  nowMs: () => number
}

export async function runBackfill(
  deps: BackfillDeps,
  source: ChainSourceConfig,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<number> {
  const { open, platform, config, dataDir, logger, health, metrics, out, nowMs } = deps
  const { log, codec, generations } = platform
  const { chain } = source
  await generations.load()
  const before = generations.liveOf(chain)
  const plan = await planBackfill({ log, codec }, generations, chain, wanted, nowMs())
  if (plan === undefined) {
    await out.line(`${chain} has no dead letters of blocks; nothing to do`)
    return EXIT.ok
  }
  const { generation } = plan
  logger.info('writing a generation beside the live one', { chain, generation, live: before, from: plan.from })
  const { progressMs } = config.intervals
  // Progress is told by what writes, against the live head.
  const quiet = { logger, metrics, progressMs: Number.MAX_SAFE_INTEGER }
  const openOptions = { facts: chainFacts(config, chain), dataDir, generation, ...quiet, signal }
  const attempt = () => open({ ...openOptions, config: { ...source, start: plan.from } })
  const opened = await withRetry(attempt, createBackoff({ maxMs: 10_000 }), signal, (error) =>
    health.markUnreachable('source', error instanceof Error ? error.message : String(error)),
  )
  if (opened === undefined) return unfinished(out, chain, generation)
  const begun = () => firstBlock({ log, codec }, blocksTopic(chain, generation))
  tellWhatHistoryLacks({ ...source, start: plan.from }, await begun(), bookPathOf(dataDir, chain, generation), logger)
  const writing = { platform, source: opened, chain, logger, health, progressMs, nowMs }
  const written = await writeGeneration(writing, plan, signal).finally(() => opened.close?.())
  if (written.outcome.kind === 'failed') {
    // A start that cannot be is no generation to go on with.
    if ((await begun()) === undefined) await generations.abandon(chain)
    throw written.outcome.error
  }
  if (!written.reached) return unfinished(out, chain, generation)
  const first = await begun()
  if (first === undefined) throw nothingFound(chain)
  if (generations.liveOf(chain) !== before) throw overtaken(chain, generations.liveOf(chain))
  await generations.makeLive(chain, { generation, from: plan.from, made: nowMs() })
  if (plan.lettersEnd !== undefined) await log.truncate(deadTopic(chain), plan.lettersEnd)
  const head = written.status.chains.get(chain)?.head?.number
  await out.line(
    `Generation ${generation} of ${chain} is live: blocks ${first.number} to ${head}, before it was ${before}.`,
  )
  await out.line('What runs goes over to it now and folds it in a new epoch; what does not, at its next start.')
  return EXIT.ok
}

async function unfinished(out: Output, chain: string, generation: number): Promise<number> {
  await out.line(
    `Generation ${generation} of ${chain} is unfinished: the same command goes on with it, --abandon drops it.`,
  )
  return EXIT.failed
}

function nothingFound(chain: string): DextapeError {
  return new DextapeError({
    code: 'backfill_empty',
    what: `Nothing of ${chain} was found up to the head, and an empty history does not become the live one`,
    fix: 'Widen the scope (pools, tokens, amms), then drop this one with --abandon and start again.',
  })
}

function overtaken(chain: string, live: number): DextapeError {
  return new DextapeError({
    code: 'backfill_overtaken',
    what: `Generation ${live} of ${chain} became the live one meanwhile`,
    fix: 'Run the command again: it joins the one that is live now.',
  })
}
