/** Which generation a backfill writes, and from where. */

import type { ChainStart } from '../../core/config/index.js'
import type { Generations, UnfinishedGeneration } from '../../core/coordination/generations.js'
import { ConfigError, DextapeError } from '../../core/domain/errors.js'
import type { DecodedRecord } from '../../core/log/codec.js'
import { blocksOf, blocksTopic, deadTopic } from '../../core/log/port.js'
import type { OpenLog } from '../../core/log/topic-records.js'
import { firstBlock, recordsOf } from '../../core/log/topic-records.js'

/** `from`: where the user wants it to begin; `dead`: at the oldest dead letter. */
export type BackfillRequest = { from: ChainStart | undefined; dead: boolean }

/** The unfinished generation goes on; else a new one begins. Undefined: there is nothing to do. */
export async function planBackfill(
  open: OpenLog,
  generations: Generations,
  chain: string,
  wanted: BackfillRequest,
  nowMs: number,
): Promise<UnfinishedGeneration | undefined> {
  const unfinished = generations.unfinishedOf(chain)
  if (unfinished !== undefined) {
    if (wanted.from !== undefined && JSON.stringify(wanted.from) !== JSON.stringify(unfinished.from))
      throw otherStart(chain, unfinished)
    return unfinished
  }
  const first = await firstBlock(open, blocksTopic(chain, generations.liveOf(chain)))
  if (first === undefined) throw nothingLive(chain)
  const oldest = wanted.dead ? await oldestLetter(open, chain) : undefined
  if (wanted.dead && oldest === undefined) return undefined
  const from = wanted.from ?? { kind: 'block', number: Math.min(first.number, oldest?.block ?? first.number) }
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

function otherStart(chain: string, { generation, from }: UnfinishedGeneration): ConfigError {
  return new ConfigError({
    code: 'backfill_unfinished',
    what: `Generation ${generation} of ${chain} is unfinished and begins elsewhere`,
    got: JSON.stringify(from),
    fix: 'Leave out --from to go on with it, or drop it first with --abandon.',
  })
}

function nothingLive(chain: string): DextapeError {
  return new DextapeError({
    code: 'nothing_live',
    what: `The log has no blocks of ${chain}, so there is no head to join`,
    fix: 'Begin with `dextape up --chain C --rpc URL --start WHEN`: a first start needs no backfill.',
  })
}
