/** The offsets of a range of blocks in a topic of blocks, whose numbers go back at a reorg. */
import { DextapeError } from '../../core/domain/errors.js'
import type { DecodedRecord } from '../../core/log/codec.js'
import type { OpenLog } from '../../core/log/topic-records.js'

export type BlockRange = { fromBlock?: number | undefined; toBlock?: number | undefined }
export type OffsetRange = { first: number; stop: number }

/** The block a record is about: of a retract, the one that stays. Undefined: none. */
export function blockNumberOf(record: DecodedRecord): number | undefined {
  switch (record.kind) {
    case 'block':
      return record.block.number
    case 'retract':
      return record.retract.to_number
    case 'update':
      return record.update.number
    case 'trade':
      return record.trade.block_number
    case 'dead':
      return record.dead.block_number ?? undefined
  }
}

export const isInRange = (
  number: number | undefined,
  { fromBlock = 0, toBlock = Number.POSITIVE_INFINITY }: BlockRange,
) => number !== undefined && number >= fromBlock && number < toBlock

/**
 * From the record after the last one below `fromBlock` to the last one below `toBlock`. Orphaned blocks in between come with their
 * retracts, and no retract leads below the first block: a recording of the range can be imported. `maxReorg`: how many blocks a
 * retract can remove.
 */
export async function offsetsOfBlocks(
  open: OpenLog,
  topic: string,
  { fromBlock, toBlock }: BlockRange,
  range: OffsetRange,
  maxReorg: number,
): Promise<OffsetRange> {
  const scan = createScan(open, topic, range)
  const endBelow = async (number: number): Promise<number> => {
    let end = await scan.near(number - maxReorg)
    for await (const { offset, number: at } of scan.from(end)) {
      if (at < number) end = offset + 1
      else if (at > number + maxReorg) break
    }
    return end
  }
  const first = fromBlock === undefined ? range.first : await endBelow(fromBlock)
  return { first, stop: toBlock === undefined ? range.stop : Math.max(first, await endBelow(toBlock)) }
}

function createScan({ log, codec }: OpenLog, topic: string, { first, stop }: OffsetRange) {
  async function* from(start: number) {
    for (let next = start; next < stop; ) {
      const records = await log.read(topic, { from: next, maxRecords: 256 })
      const last = records.at(-1)
      if (last === undefined) return
      next = last.offset + 1
      await codec.learn(records.map(({ value }) => value))
      for (const { offset, value } of records) {
        if (offset >= stop) return
        const number = readable(() => blockNumberOf(codec.decodeLogRecord(value, { topic, offset })))
        if (number !== undefined) yield { offset, number }
      }
    }
  }

  /** The number of the first readable record at or after an offset. */
  async function numberAt(offset: number): Promise<number | undefined> {
    for await (const { number } of from(offset)) return number
    return undefined
  }

  return {
    from,
    /** An offset below which every number is below `number` + the depth of a reorg. */
    async near(number: number): Promise<number> {
      let [low, high] = [first, stop]
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        const at = await numberAt(middle)
        if (at !== undefined && at < number) low = middle + 1
        else high = middle
      }
      return low
    },
  }
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof DextapeError) return undefined
    throw error
  }
}
