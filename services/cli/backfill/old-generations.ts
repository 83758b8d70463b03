/** Deletes generations that are not live: an unfinished one, or those that were live before. */
import { DextapeError } from '../../core/domain/errors.js'
import { blocksOf, blocksTopic, type EventLog } from '../../core/log/port.js'
import type { Output } from '../../core/runtime/output.js'
import type { Platform } from '../../processes/platform/platform.js'

type Parts = Pick<Platform, 'log' | 'generations'>

export async function abandonGeneration({ log, generations }: Parts, chain: string, out: Output): Promise<void> {
  await generations.load()
  const unfinished = generations.unfinishedOf(chain)
  if (unfinished === undefined)
    throw new DextapeError({ code: 'nothing_unfinished', what: `No unfinished backfill of ${chain}` })
  await generations.abandon(chain)
  await empty(log, blocksTopic(chain, unfinished.generation))
  await out.line(
    `Deleted unfinished generation ${unfinished.generation} of ${chain}; generation ${generations.liveOf(chain)} stays live.`,
  )
}

export async function dropOldGenerations({ log, generations }: Parts, chain: string, out: Output): Promise<void> {
  await generations.load()
  const live = generations.liveOf(chain)
  const kept = new Set([live, generations.unfinishedOf(chain)?.generation])
  let dropped = 0
  for (const { topic, start, end } of await log.topics()) {
    const blocks = blocksOf(topic)
    if (blocks?.chain !== chain || kept.has(blocks.generation) || start === end) continue
    await empty(log, topic)
    dropped += 1
    await out.line(`${topic}: deleted ${end - start} records`)
  }
  if (dropped === 0) await out.line(`${chain} has no earlier generation; generation ${live} is live`)
}

async function empty(log: EventLog, topic: string): Promise<void> {
  const { end } = await log.info(topic)
  if (end > 0) await log.truncate(topic, end)
}
