/** Writes a generation beside the live one until it reaches the live head. */
import type { UnfinishedGeneration } from '../../core/coordination/generations.js'
import { blocksTopic } from '../../core/log/port.js'
import { firstBlock, lastRecord } from '../../core/log/topic-records.js'
import { sleep } from '../../core/runtime/backoff.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Health } from '../../core/runtime/part-health.js'
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
  progressMs: number
  nowMs: () => number
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
  const { platform, source, chain, logger, progressMs, nowMs } = deps
  const progress = createProgress(nowMs)
  const readHead = createHeadReader(platform, blocksTopic(chain, platform.generations.liveOf(chain)))
  let first: number | undefined
  let reportedMs = nowMs()
  while (!signal.aborted) {
    const head = await readHead()
    const written = status.chains.get(chain)?.head?.number
    if (written !== undefined && Math.max(written, source.reached?.() ?? 0) >= head) return
    if (written !== undefined && nowMs() - reportedMs >= progressMs) {
      reportedMs = nowMs()
      first ??= (await firstBlock(platform, blocksTopic(chain, generation)))?.number ?? written
      const { done, total, percent, blocksPerS, leftS } = progress.at(
        first,
        Math.max(written, source.reached?.() ?? 0),
        head,
      )
      logger.info('backfill progress', {
        ...{ chain, generation, blocks_done: done, blocks_total: total, percent },
        ...{ blocks_per_s: blocksPerS, left_s: leftS, events: status.chains.get(chain)?.events ?? 0 },
      })
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

/** How far a backfill is, in blocks. */
export type Progress = { done: number; total: number; percent: number; blocksPerS: number; leftS: number | null }

/** The rate covers this window, so that it follows the nodes. */
const RATE_WINDOW_MS = 60_000

export function createProgress(nowMs: () => number) {
  let marks: { atMs: number; at: number }[] = []
  return {
    /** `at`: the last block written, between `first` and `head`. */
    at(first: number, at: number, head: number): Progress {
      const now = nowMs()
      marks.push({ atMs: now, at })
      const old = marks.findLastIndex(({ atMs }) => atMs <= now - RATE_WINDOW_MS)
      marks = marks.slice(Math.max(0, old))
      const oldest = marks[0] ?? { atMs: now, at }
      const blocksPerS = now === oldest.atMs ? 0 : ((at - oldest.at) * 1000) / (now - oldest.atMs)
      const total = Math.max(1, head - first + 1)
      const done = Math.min(total, Math.max(0, at - first + 1))
      return {
        ...{ done, total, percent: Math.floor((done * 100) / total), blocksPerS: Math.round(blocksPerS) },
        leftS: blocksPerS > 0 ? Math.ceil((total - done) / blocksPerS) : null,
      }
    },
  }
}
