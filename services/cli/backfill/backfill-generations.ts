/** Decides which generation a backfill writes, and from which block. */

import type { ChainStart } from '../../core/config/index.js'
import type { Generations, UnfinishedGeneration } from '../../core/coordination/generations.js'
import { ConfigError, DextapeError } from '../../core/domain/errors.js'
import type { DecodedRecord } from '../../core/log/codec.js'
import { blocksOf, blocksTopic, deadTopic } from '../../core/log/port.js'
import type { OpenLog } from '../../core/log/topic-records.js'
import { firstBlock, recordsOf } from '../../core/log/topic-records.js'

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

async function highestGeneration({ log }: OpenLog, generations: Generations, chain: string): Promise<number> {
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
