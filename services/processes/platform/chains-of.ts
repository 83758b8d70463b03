import { blocksOf, type EventLog } from '../../core/log/port.js'

/** Every chain the log has blocks of. */
export async function chainsOf(log: EventLog): Promise<string[]> {
  const topics = await log.topics()
  return [...new Set(topics.flatMap(({ topic }) => blocksOf(topic)?.chain ?? []))].sort()
}
