/** Creates topics: one partition, with settings by what the topic holds. */
import { leaderOf } from './connections.js'
import type { Cluster } from './internals.js'
import { typeOf } from './kafka-faults.js'

const FOR_EVER = '-1'
const LONGEST_MS = String(2n ** 63n - 1n)

/** Topics where only the newest record of each key matters. */
const COMPACTED = /^dex\.(state\..+|keys|sources|status|generations)$/

type Setting = { name: string; value: string }

const settings = (values: Record<string, string>): Setting[] =>
  Object.entries(values).map(([name, value]) => ({ name, value }))

/** Records carry chain time, which may be years ago: the broker's clock must not delete them. */
const RETAINED_SETTINGS = settings({
  'cleanup.policy': 'delete',
  'retention.ms': FOR_EVER,
  'retention.bytes': FOR_EVER,
  'segment.bytes': String(256 * 1024 * 1024),
  'message.timestamp.type': 'CreateTime',
})
const COMPACTED_SETTINGS = settings({
  'cleanup.policy': 'compact',
  'segment.bytes': String(64 * 1024 * 1024),
  'min.cleanable.dirty.ratio': '0.2',
  'message.timestamp.type': 'CreateTime',
})
/** Brokers before 3.6 have neither these settings nor the limit. */
const ANY_TIME = settings({
  'message.timestamp.before.max.ms': LONGEST_MS,
  'message.timestamp.after.max.ms': LONGEST_MS,
})

function settingsFor(topic: string): Setting[] {
  return COMPACTED.test(topic) ? COMPACTED_SETTINGS : RETAINED_SETTINGS
}

/** Creates the topic if it is missing; `full` is its name in the cluster, `topic` the name that decides its settings. */
export async function ensureTopic(
  cluster: Cluster,
  topic: string,
  full: string,
  wantedCopies: number | undefined,
): Promise<void> {
  if ((await leaderOf(cluster, full)) !== undefined) return
  const brokers = cluster.brokerPool.metadata?.brokers.length ?? 1
  const replicationFactor = wantedCopies ?? (brokers >= 3 ? 3 : 1)
  const safety = replicationFactor >= 3 ? settings({ 'min.insync.replicas': '2' }) : []
  const controller = await cluster.findControllerBroker()
  const create = async (configEntries: Setting[]) => {
    try {
      await controller.createTopics({ topics: [{ topic: full, numPartitions: 1, replicationFactor, configEntries }] })
    } catch (error) {
      if (typeOf(error) !== 'TOPIC_ALREADY_EXISTS') throw error
    }
  }
  const entries = [...settingsFor(topic), ...safety]
  try {
    await create([...entries, ...ANY_TIME])
  } catch (error) {
    if (typeOf(error) !== 'INVALID_CONFIG') throw error
    await create(entries)
  }
  await cluster.refreshMetadata()
}
