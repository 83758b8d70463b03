/** Reads the log of a running installation. */
import type { BlockUpdate } from '../../../services/core/domain/records.js'
import type { Codec } from '../../../services/core/log/codec.js'
import { createAssembler } from '../../../services/core/log/parts.js'
import { blocksTopic, type EventLog, updatesTopic } from '../../../services/core/log/port.js'

export type Reading = { log: EventLog; codec: Codec }

/** Both tokens of every pool in the chain's blocks. */
export async function readPools(reading: Reading, chain: string): Promise<Map<string, readonly [string, string]>> {
  const pools = new Map<string, readonly [string, string]>()
  for await (const record of records(reading, blocksTopic(chain))) {
    if (record.kind !== 'block') continue
    for (const event of record.block.events)
      if (event.type === 'pool') pools.set(event.pool, [event.token0, event.token1])
  }
  return pools
}

/** Complete updates, from the oldest one in the topic. */
export async function* readUpdates(reading: Reading, chain: string): AsyncGenerator<BlockUpdate> {
  for await (const record of records(reading, updatesTopic(chain))) if (record.kind === 'update') yield record.update
}

async function* records({ log, codec }: Reading, topic: string) {
  const assembler = createAssembler()
  const { start, end } = await log.info(topic)
  let hasBegun = false
  for (let from = start; from < end; ) {
    const batch = await log.read(topic, { from, maxRecords: 1000 })
    await codec.learn(batch.map(({ value }) => value))
    for (const { value, offset } of batch) {
      const part = codec.decodeLogRecord(value, { topic, offset })
      // Retention may have removed the first parts of an update.
      hasBegun ||= part.kind !== 'update' || part.update.part === 0
      const whole = hasBegun ? assembler.push(part, offset) : undefined
      if (whole !== undefined) yield whole.record
    }
    from = (batch.at(-1)?.offset ?? end) + 1
  }
}
