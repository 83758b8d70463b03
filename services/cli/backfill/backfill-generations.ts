/** Which generation of a chain a backfill writes, and which ones it deletes. */
import type { ChainStart } from '../../core/config/index.js'
import type { Generations, UnfinishedGeneration } from '../../core/coordination/generations.js'
import { ConfigError, DextapeError } from '../../core/domain/errors.js'
import type { DecodedRecord } from '../../core/log/codec.js'
import { blocksOf, blocksTopic, deadTopic, type EventLog } from '../../core/log/port.js'
import { firstBlock, type OpenLog, recordsOf } from '../../core/log/topic-records.js'
import type { Output } from '../../core/runtime/output.js'
import type { Platform } from '../../processes/platform/platform.js'

/** `from`: the first block requested; `dead`: start at the oldest dead letter. */
export type BackfillRequest = { from: ChainStart | undefined; dead: boolean }

/** Resumes the unfinished generation, else begins a new one. Undefined: there is nothing to do. */
export async function planBackfill(
  open: OpenLog,
  generations: Generations,
  chain: string,
  request: BackfillRequest,
  nowMs: number,
): Promise<UnfinishedGeneration | undefined> {
  const unfinished = generations.unfinishedOf(chain)
  if (unfinished !== undefined) {
    if (request.from !== undefined && JSON.stringify(request.from) !== JSON.stringify(unfinished.from))
      throw startDiffers(chain, unfinished)
    return unfinished
  }
  const first = await firstBlock(open, blocksTopic(chain, generations.liveOf(chain)))
  if (first === undefined) throw noBlocks(chain)
  const oldest = request.dead ? await oldestLetter(open, chain) : undefined
  if (request.dead && oldest === undefined) return undefined
  const from = request.from ?? { kind: 'block', number: Math.min(first.number, oldest?.block ?? first.number) }
  const plan: UnfinishedGeneration = {
    generation: (await highestGeneration(open, generations, chain)) + 1,
    ...{ from, began: nowMs },
    ...(oldest === undefined ? {} : { lettersEnd: oldest.end }),
  }
  await generations.begin(chain, plan)
  return plan
}

export async function highestGeneration(
  { log }: Pick<OpenLog, 'log'>,
  generations: Pick<Generations, 'highestOf'>,
  chain: string,
): Promise<number> {
  const topics = (await log.topics()).flatMap(({ topic }) => blocksOf(topic) ?? [])
  const written = topics.filter((topic) => topic.chain === chain).map(({ generation }) => generation)
  return Math.max(generations.highestOf(chain), ...written)
}

async function oldestLetter(open: OpenLog, chain: string): Promise<{ block: number; end: number } | undefined> {
  const topic = deadTopic(chain)
  const { end } = await open.log.info(topic)
  let block = Number.POSITIVE_INFINITY
  for await (const record of recordsOf(open, topic, end)) block = Math.min(block, letterBlock(record))
  return Number.isFinite(block) ? { block, end } : undefined
}

const letterBlock = (record: DecodedRecord): number =>
  (record.kind === 'dead' ? record.dead.block_number : null) ?? Number.POSITIVE_INFINITY

function startDiffers(chain: string, { generation, from }: UnfinishedGeneration): ConfigError {
  return new ConfigError({
    code: 'backfill_unfinished',
    what: `An unfinished backfill of ${chain} (generation ${generation}) has another start`,
    got: JSON.stringify(from),
    fix: 'Resume it without --from, or delete it with --abandon.',
  })
}

function noBlocks(chain: string): DextapeError {
  return new DextapeError({
    code: 'nothing_live',
    what: `Cannot backfill ${chain}: the log has no blocks of it`,
    fix: 'Start it with `dextape up --chain C --rpc URL --start WHEN`; a first start needs no backfill.',
  })
}

type Parts = Pick<Platform, 'log' | 'generations'>

/** Deletes the unfinished generation. */
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

/** Deletes the generations that were live before. */
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
