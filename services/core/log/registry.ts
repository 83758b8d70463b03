/**
 * The schema registry: an id for each schema, a list of versions for each subject. The embedded one is in the log's own
 * database, so that a data directory is self-contained and all its processes agree on the ids.
 */
import type { AvroRecord } from '../../../schemas/avro.js'
import { DextapeError } from '../domain/errors.js'
import { incompatibility } from './avro-types.js'
import { type Environment, sealSchemas } from './lmdb-tables.js'

/** A remote registry answers with promises; `Codec.prepare` and `Codec.learn` await them ahead of the hot path. */
export interface SchemaRegistry {
  /** The schema's id. Registers a new schema under the subject; rejects one that is incompatible with older versions. */
  idFor(subject: string, schema: AvroRecord): number | Promise<number>
  schemaFor(id: number): AvroRecord | undefined | Promise<AvroRecord | undefined>
}

/** TopicRecordNameStrategy: one topic may have several record types, each with its own versions. */
export function subjectOf(topic: string, schema: AvroRecord): string {
  return `${topic}-${schema.namespace === undefined ? '' : `${schema.namespace}.`}${schema.name}`
}

/** FULL_TRANSITIVE: each version reads what every other version wrote. */
export function assertCompatible(subject: string, schema: AvroRecord, versions: readonly AvroRecord[]): void {
  for (const [index, version] of versions.entries()) {
    const reason = incompatibility(schema, version)
    if (reason === undefined) continue
    throw new DextapeError({
      code: 'incompatible_schema',
      what: `Schema of ${subject} is incompatible with its version ${index + 1}`,
      expected: 'each version to read what every other wrote (FULL_TRANSITIVE)',
      got: reason,
      fix: 'Add fields with a default and remove only fields that have one.',
    })
  }
}

export function embeddedRegistry({ root, schemas }: Environment): SchemaRegistry {
  const idsBySubject = (subject: string): number[] => (schemas.get(['subject', subject]) as number[] | undefined) ?? []
  const schemaOf = (id: number): AvroRecord | undefined => schemas.get(['id', id]) as AvroRecord | undefined

  function knownId(subject: string, text: string): number | undefined {
    return idsBySubject(subject).find((id) => JSON.stringify(schemaOf(id)) === text)
  }

  function register(subject: string, schema: AvroRecord): number {
    const text = JSON.stringify(schema)
    const known = knownId(subject, text)
    if (known !== undefined) return known
    const ids = idsBySubject(subject)
    const versions = ids.map(schemaOf).filter((version) => version !== undefined)
    assertCompatible(subject, schema, versions)
    const count = (schemas.get('count') as number | undefined) ?? 0
    let id = 1
    while (id <= count && JSON.stringify(schemaOf(id)) !== text) id++
    if (id > count) {
      schemas.put(['id', id], schema)
      schemas.put('count', id)
    }
    schemas.put(['subject', subject], [...ids, id])
    sealSchemas({ schemas })
    return id
  }

  return {
    idFor(subject, schema) {
      root.resetReadTxn()
      return knownId(subject, JSON.stringify(schema)) ?? root.transactionSync(() => register(subject, schema))
    },
    schemaFor(id) {
      root.resetReadTxn()
      return schemaOf(id)
    },
  }
}
