/**
 * `npm run generate` writes services/core/domain/records from the newest version of each Avro schema, and the documents of the
 * interface from its declarations.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DEFAULT_DOCUMENTS, documents, documentText } from '../services/serve/documents/index.js'
import { newestSchema, type RecordName, repositoryRoot } from './avro.js'
import { GENERATED_BY, typesFromSchemas } from './types-from-avro.js'

const RECORDS = 'services/core/domain/records'
export const DOCUMENT_FILES = { openapi: 'schemas/openapi.json', asyncapi: 'schemas/asyncapi.json' } as const

/** One file per topic of the log. */
const RECORDS_BY_TOPIC: Record<string, readonly RecordName[]> = {
  blocks: ['block', 'retract'],
  updates: ['update'],
  trades: ['trade'],
  'dead-letters': ['dead_letter'],
}

/** The generated source files: path → text. */
export function recordFiles(): Map<string, string> {
  const topics = Object.entries(RECORDS_BY_TOPIC)
  const exports = topics.map(([topic]) => `export * from './records/${topic}.js'\n`).sort()
  return new Map([
    [`${RECORDS}.ts`, `${GENERATED_BY}\n${exports.join('')}`],
    ...topics.map(([topic, names]): [string, string] => [
      `${RECORDS}/${topic}.ts`,
      typesFromSchemas(names.map(newestSchema)),
    ]),
  ])
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = repositoryRoot()
  for (const [path, text] of recordFiles()) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const { openapi, asyncapi } = documents(DEFAULT_DOCUMENTS)
  writeFileSync(`${root}/${DOCUMENT_FILES.openapi}`, documentText(openapi))
  writeFileSync(`${root}/${DOCUMENT_FILES.asyncapi}`, documentText(asyncapi))
}
