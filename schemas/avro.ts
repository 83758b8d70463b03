/** The Avro schemas of the log, by record and version, as they are in schemas/avro/<record>/v<N>.avsc. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const RECORD_NAMES = ['block', 'retract', 'update', 'block_update', 'dead_letter', 'trade'] as const
export type RecordName = (typeof RECORD_NAMES)[number]

export type AvroField = { name: string; type: AvroType; doc?: string; default?: unknown }
export type AvroRecord = { type: 'record'; name: string; namespace?: string; doc?: string; fields: AvroField[] }
export type AvroType =
  | string
  | AvroType[]
  | AvroRecord
  | { type: 'enum'; name: string; symbols: string[] }
  | { type: 'array'; items: AvroType }
  | { type: 'bytes'; logicalType: string }

/** The root of the checkout, also when this file runs from dist/. */
export function repositoryRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

/** All versions of a record's schema, oldest first. */
export function schemaVersions(record: RecordName): AvroRecord[] {
  const folder = join(repositoryRoot(), 'schemas/avro', record)
  const versions = readdirSync(folder)
    .map((file) => Number(/^v(\d+)\.avsc$/.exec(file)?.[1]))
    .filter((version) => version > 0)
    .sort((a, b) => a - b)
  return versions.map((version) => JSON.parse(readFileSync(join(folder, `v${version}.avsc`), 'utf8')) as AvroRecord)
}

export function newestSchema(record: RecordName): AvroRecord {
  const newest = schemaVersions(record).at(-1)
  if (newest === undefined) throw new Error(`schemas/avro/${record} holds no v<N>.avsc`)
  return newest
}
