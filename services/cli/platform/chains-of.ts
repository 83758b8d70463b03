import { blocksTopic, type EventLog } from '../../core/log/port.js'

const PREFIX = blocksTopic('')

/** Every chain the log has blocks of. */
export async function chainsOf(log: EventLog): Promise<string[]> {
  const topics = await log.topics()
  return topics.flatMap(({ topic }) => (topic.startsWith(PREFIX) ? [topic.slice(PREFIX.length)] : [])).sort()
}
