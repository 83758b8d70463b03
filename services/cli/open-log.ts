/** The log a command works on, with its codec. */

import type { Config } from '../core/config/index.js'
import type { LiveGeneration } from '../core/coordination/generations.js'
import type { DataDir } from '../core/data-dir/data-dir.js'
import { createCodec } from '../core/log/codec.js'
import { openEmbedded } from '../core/log/embedded-log.js'
import { openKeyedTable } from '../core/log/keyed-table.js'
import { blocksTopic, type EventLog, GENERATIONS_TOPIC } from '../core/log/port.js'
import type { OpenLog } from '../core/log/topic-records.js'
import { openKafka, registryOf } from '../processes/platform/kafka.js'

/** A command says that the broker is away rather than wait for it. */
const PATIENCE_MS = 8000
const NOBODY = { onUnreachable: () => {}, onReachable: () => {} }

/** `dir` is asked for only where the log stands in it. */
export function openLog({ log: choice }: Pick<Config, 'log'>, dir: () => DataDir): OpenLog {
  if (choice.kind === 'kafka') {
    const log = openKafka(choice, NOBODY, PATIENCE_MS)
    return { log, codec: createCodec(registryOf(choice, log)) }
  }
  const { log, registry } = openEmbedded({ path: dir().logPath })
  return { log, codec: createCodec(registry) }
}

export async function withLog<T>(
  config: Pick<Config, 'log'>,
  dir: () => DataDir,
  use: (open: OpenLog) => Promise<T>,
): Promise<T> {
  const open = openLog(config, dir)
  try {
    return await use(open)
  } finally {
    await open.log.close()
  }
}

/** `eth` stands for its blocks: the generation that is live. */
export async function topicNamed(log: EventLog, name: string): Promise<string> {
  return name.includes('.') ? name : blocksTopic(name, await liveGeneration(log, name))
}

/** As it is now. */
export async function liveGeneration(log: EventLog, chain: string): Promise<number> {
  const table = await openKeyedTable<LiveGeneration>(log, GENERATIONS_TOPIC)
  return table.get(chain)?.generation ?? 1
}
