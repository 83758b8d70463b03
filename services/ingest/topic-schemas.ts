/** Which schemas must be registered before a topic's first record: a remote registry must know them. */
import type { RecordName } from '../../schemas/avro.js'
import { deadTopic } from '../core/log/port.js'
import { chainOf, type SourceItem } from './source.js'

export type SchemasOfTopic = { topic: string; records: RecordName[] }

export interface TopicSchemas {
  /** Undefined: registered before. */
  unregisteredSchemas(item: Exclude<SourceItem<unknown>, { kind: 'idle' }>): SchemasOfTopic | undefined
  markRegistered(schemas: SchemasOfTopic): void
}

export function createTopicSchemas(topicOf: (chain: string) => string): TopicSchemas {
  const registered = new Set<string>()
  return {
    unregisteredSchemas(item) {
      const topic = item.kind === 'dead' ? deadTopic(item.letter.chain) : topicOf(chainOf(item.record))
      if (registered.has(topic)) return undefined
      return { topic, records: item.kind === 'dead' ? ['dead_letter'] : ['block', 'retract'] }
    },
    markRegistered({ topic }) {
      registered.add(topic)
    },
  }
}
