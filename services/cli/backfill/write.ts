/** Writes a generation beside the live one until it reaches the live head. */
import type { UnfinishedGeneration } from '../../core/coordination/generations.js'
import { blocksTopic } from '../../core/log/port.js'
import { firstBlock, lastRecord } from '../../core/log/topic-records.js'
import { sleep } from '../../core/runtime/backoff.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Health } from '../../core/runtime/part-health.js'
import type { Progress } from '../../core/runtime/progress.js'
import { generationCheckpoint } from '../../ingest/checkpoints.js'
import { createStatus, type IngestStatus } from '../../ingest/ingest-status.js'
import { createIngest, type IngestOutcome } from '../../ingest/main.js'
import type { Source } from '../../ingest/source.js'
import type { Platform } from '../../processes/platform/platform.js'

export type WriteDeps = {
  platform: Pick<Platform, 'log' | 'codec' | 'generations' | 'checkpointsFor'>
  source: Source
  chain: string
  logger: Logger
  health: Health
  progress: Progress
}

export type Written = { outcome: IngestOutcome; reached: boolean; status: IngestStatus }

const POLL_INTERVAL_MS = 200
/** Silences ingest's progress lines: this file reports progress. */
const NEVER_MS = 2 ** 31 - 1

export async function writeGeneration(
  deps: WriteDeps,
  { generation }: UnfinishedGeneration,
  signal: AbortSignal,
): Promise<Written> {
  const { platform, source, chain, logger, health } = deps
  const { log, codec } = platform
  const checkpoints = await platform.checkpointsFor({ id: generationCheckpoint(source.id, generation) })
  const status = createStatus(source.name, chain)
  const arrived = new AbortController()
  const ended = new AbortController()
  const ingest = createIngest({
    ...{ source, chain, log, codec, checkpoints, status, logger, health, progressMs: NEVER_MS },
    generationOf: () => generation,
  })
  const broken = new AbortController()
  const watching = untilHeadReached(deps, generation, status, AbortSignal.any([signal, ended.signal])).then(
    () => arrived.abort(),
    (error: unknown) => broken.abort(error),
  )
  try {
    const outcome = await ingest.run(AbortSignal.any([signal, arrived.signal, broken.signal]))
    if (broken.signal.aborted) throw broken.signal.reason
    return { outcome, reached: arrived.signal.aborted && !signal.aborted, status }
  } finally {
    ended.abort()
    await watching
    await checkpoints.close()
  }
}

/** Resolves once the written blocks reach the live generation's head, or the signal aborts. */
async function untilHeadReached(
  deps: WriteDeps,
  generation: number,
  status: IngestStatus,
  signal: AbortSignal,
): Promise<void> {
  const { platform, source, chain, progress } = deps
  const readHead = createHeadReader(platform, blocksTopic(chain, platform.generations.liveOf(chain)))
  let first: number | undefined
  while (!signal.aborted) {
    const head = await readHead()
    const written = status.chains.get(chain)?.head?.number
    const at = written === undefined ? undefined : Math.max(written, source.reached?.() ?? 0)
    if (at !== undefined && at >= head) return
    if (written !== undefined && at !== undefined) {
      first ??= (await firstBlock(platform, blocksTopic(chain, generation)))?.number ?? written
      progress.report(at - first + 1, head - first + 1)
    }
    await sleep(POLL_INTERVAL_MS, signal)
  }
}

/** Checks the topic's end first: a head that did not move is not decoded again. */
function createHeadReader({ log, codec }: Pick<Platform, 'log' | 'codec'>, topic: string): () => Promise<number> {
  let seen = { end: -1, number: 0 }
  return async () => {
    const { end } = await log.info(topic)
    if (end === seen.end) return seen.number
    const last = await lastRecord(log, codec, topic)
    if (last?.kind === 'block') seen = { end, number: last.block.number }
    else if (last?.kind === 'retract') seen = { end, number: last.retract.to_number }
    return seen.number
  }
}
