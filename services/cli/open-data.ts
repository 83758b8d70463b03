/** The log and the store a command works on. Only the configured engine is loaded. */
import { type Config, nearestName } from '../core/config/index.js'
import type { LiveGeneration } from '../core/coordination/generations.js'
import type { DataDir } from '../core/data-dir/data-dir.js'
import { DextapeError } from '../core/domain/errors.js'
import { openKeyedTable } from '../core/log/keyed-table.js'
import { blocksTopic, type EventLog, GENERATIONS_TOPIC } from '../core/log/port.js'
import type { OpenLog } from '../core/log/topic-records.js'
import type { Store } from '../core/store/port.js'

/** A command reports an unreachable broker instead of waiting for it. */
const PATIENCE_MS = 8000
const IGNORE_REACHABILITY = { onUnreachable: () => {}, onReachable: () => {} }

/** `dir` is called only for the embedded log. */
export async function openLog({ log: choice }: Pick<Config, 'log'>, dir: () => DataDir): Promise<OpenLog> {
  const { createCodec } = await import('../core/log/codec.js')
  if (choice.kind === 'kafka') {
    const { openKafka, registryOf } = await import('../processes/platform/kafka.js')
    const log = openKafka(choice, IGNORE_REACHABILITY, PATIENCE_MS)
    return { log, codec: createCodec(registryOf(choice, log)) }
  }
  const { openEmbedded } = await import('../core/log/embedded-log.js')
  const { log, registry } = openEmbedded({ path: dir().logPath })
  return { log, codec: createCodec(registry) }
}

export async function withLog<T>(
  config: Pick<Config, 'log'>,
  dir: () => DataDir,
  use: (open: OpenLog) => Promise<T>,
): Promise<T> {
  const open = await openLog(config, dir)
  try {
    return await use(open)
  } finally {
    await open.log.close()
  }
}

/** `dir` is called only for the embedded store. */
export async function withStore<T>(
  { store: choice }: Pick<Config, 'store'>,
  dir: () => DataDir,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  const store =
    choice.kind === 'clickhouse'
      ? await (await import('../core/store/clickhouse-store.js')).openStore({ ...choice, kind: 'server' })
      : await (await import('../core/store/local-store.js')).openLocalStore(dir().path)
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

/** The name of an existing topic. A chain (`eth`) means the blocks topic of its live generation. */
export async function requireTopic(log: EventLog, name: string): Promise<string> {
  const topic = name.includes('.') ? name : blocksTopic(name, await liveGeneration(log, name))
  const known = (await log.topics()).map((info) => info.topic)
  if (known.includes(topic)) return topic
  const nearest = nearestName(topic, known)
  const hint = nearest === undefined ? '' : `Did you mean ${nearest}? `
  throw new DextapeError({
    code: 'topic_unknown',
    what: `Unknown topic ${topic}`,
    fix: `${hint}List topics with \`dextape topics ls\`.`,
  })
}

export async function liveGeneration(log: EventLog, chain: string): Promise<number> {
  const table = await openKeyedTable<LiveGeneration>(log, GENERATIONS_TOPIC)
  return table.get(chain)?.generation ?? 1
}
