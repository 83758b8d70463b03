import type { AvroRecord } from '../../../schemas/avro.js'
import type { SchemaRegistry } from '../../../services/core/log/registry.js'

/** A registry in which the given schemas have the ids 1, 2, …; new ones continue from there. */
export function memoryRegistry(known: AvroRecord[] = []): SchemaRegistry {
  return {
    idFor(_subject, schema) {
      const text = JSON.stringify(schema)
      const index = known.findIndex((candidate) => JSON.stringify(candidate) === text)
      return index >= 0 ? index + 1 : known.push(schema)
    },
    schemaFor: (id) => known[id - 1],
  }
}
