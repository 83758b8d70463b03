/**
 * A schema registry in a topic: one record per registration, never compacted. A schema's id is the offset of the first record
 * with its text, plus one, so all processes agree on the ids however they race.
 */
import type { AvroRecord } from '../../../schemas/avro.js'
import { incompatibility } from './avro-types.js'
import type { EventLog } from './port.js'
import { assertCompatible, type SchemaRegistry } from './registry.js'

export const SCHEMAS_TOPIC = 'dex.schemas'

type Registration = { subject: string; schema: AvroRecord }

export function inLogRegistry(log: EventLog): SchemaRegistry {
  const idByText = new Map<string, number>()
  const schemaById = new Map<number, AvroRecord>()
  const versionsBySubject = new Map<string, Map<string, AvroRecord>>()
  let next = 0
  let reading: Promise<void> = Promise.resolve()
  let registering: Promise<unknown> = Promise.resolve()

  /** Reads what any process appended before this call. */
  function catchUp(): Promise<void> {
    const caughtUp = reading.then(readRest)
    reading = caughtUp.catch(() => undefined)
    return caughtUp
  }

  async function readRest(): Promise<void> {
    for (;;) {
      const records = await log.read(SCHEMAS_TOPIC, { from: next })
      if (records.length === 0) return
      for (const { offset, value } of records) {
        const registration = registrationOf(value)
        if (registration !== undefined) take(registration, offset + 1)
        next = offset + 1
      }
    }
  }

  function take({ subject, schema }: Registration, id: number): void {
    const text = JSON.stringify(schema)
    if (!idByText.has(text)) idByText.set(text, id)
    schemaById.set(id, schema)
    const versions = versionsOf(subject)
    // Two incompatible schemas may be registered at the same time: the first in the log counts, for every process.
    const fits = [...versions.values()].every((version) => incompatibility(schema, version) === undefined)
    if (!versions.has(text) && fits) versions.set(text, schema)
  }

  function versionsOf(subject: string): Map<string, AvroRecord> {
    const known = versionsBySubject.get(subject)
    if (known !== undefined) return known
    const created = new Map<string, AvroRecord>()
    versionsBySubject.set(subject, created)
    return created
  }

  const idOfVersion = (subject: string, text: string): number | undefined =>
    versionsBySubject.get(subject)?.has(text) === true ? idByText.get(text) : undefined

  async function register(subject: string, schema: AvroRecord): Promise<number> {
    const text = JSON.stringify(schema)
    await catchUp()
    const known = idOfVersion(subject, text)
    if (known !== undefined) return known
    assertCompatible(subject, schema, [...versionsOf(subject).values()])
    const value = Buffer.from(JSON.stringify({ subject, schema } satisfies Registration))
    await log.append(SCHEMAS_TOPIC, [{ key: subject, value, timestampMs: 0 }])
    await catchUp()
    const id = idOfVersion(subject, text)
    if (id !== undefined) return id
    assertCompatible(subject, schema, [...versionsOf(subject).values()])
    throw new Error(`${SCHEMAS_TOPIC} does not return what was appended to it`)
  }

  return {
    idFor(subject, schema) {
      const known = idOfVersion(subject, JSON.stringify(schema))
      if (known !== undefined) return known
      const registered = registering.then(() => register(subject, schema))
      registering = registered.catch(() => undefined)
      return registered
    },
    schemaFor(id) {
      return schemaById.get(id) ?? catchUp().then(() => schemaById.get(id))
    },
  }
}

/** Undefined for a foreign record: it uses up an offset and is ignored. */
function registrationOf(value: Uint8Array): Registration | undefined {
  try {
    const read = JSON.parse(Buffer.from(value).toString()) as Partial<Registration> | null
    const { subject, schema } = read ?? {}
    return typeof subject === 'string' && schema?.type === 'record' ? { subject, schema } : undefined
  } catch {
    return undefined
  }
}
