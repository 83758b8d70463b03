/**
 * `npm run generate` writes services/core/domain/records from the newest version of each Avro schema, and from its declarations
 * the documents of the interface and the types of its clients.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DEFAULT_DOCUMENTS, documents, documentText } from '../services/serve/documents/build-documents.js'
import { newestSchema, repositoryRoot } from './avro.js'
import { PYTHON_CLIENT, pythonClient } from './client-python.js'
import { clientInterface } from './client-types.js'
import { TYPESCRIPT_CLIENT, typescriptClient } from './client-typescript.js'
import { GENERATED_BY, typesFromSchemas } from './types-from-avro.js'

const RECORDS = 'services/core/domain/records'
export const DOCUMENT_FILES = { openapi: 'schemas/openapi.json', asyncapi: 'schemas/asyncapi.json' } as const

/** The generated source files: path → text. One file per topic of the log. */
export function recordFiles(): Map<string, string> {
  const byFile = typesFromSchemas({
    'block-records': [newestSchema('block'), newestSchema('retract')],
    'update-records': [newestSchema('block_update')],
    'trade-records': [newestSchema('trade')],
    'dead-letter-records': [newestSchema('dead_letter')],
  })
  const exports = [...byFile.keys()].map((name) => `export * from './records/${name}.js'\n`).sort()
  return new Map([
    [`${RECORDS}.ts`, `${GENERATED_BY}\n${exports.join('')}`],
    ...[...byFile].map(([name, text]): [string, string] => [`${RECORDS}/${name}.ts`, text]),
  ])
}

/** The types of the clients: path → text. */
export function clientFiles(): Map<string, string> {
  const offered = clientInterface()
  return new Map([
    [TYPESCRIPT_CLIENT, typescriptClient(offered)],
    [PYTHON_CLIENT, pythonClient(offered)],
  ])
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = repositoryRoot()
  for (const [path, text] of [...recordFiles(), ...clientFiles()]) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const { openapi, asyncapi } = documents(DEFAULT_DOCUMENTS)
  writeFileSync(`${root}/${DOCUMENT_FILES.openapi}`, documentText(openapi))
  writeFileSync(`${root}/${DOCUMENT_FILES.asyncapi}`, documentText(asyncapi))
}
