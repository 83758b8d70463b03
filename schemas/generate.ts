/**
 * `npm run generate` writes services/core/domain/records.ts from the newest version of each Avro schema, and the documents of
 * the interface from its declarations.
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DEFAULT_DOCUMENTS, documents, documentText } from '../services/serve/documents/build-documents.js'
import { newestSchemas, repositoryRoot } from './avro.js'
import { typesFromSchemas } from './types-from-avro.js'

export const RECORDS_FILE = 'services/core/domain/records.ts'
export const DOCUMENT_FILES = { openapi: 'schemas/openapi.json', asyncapi: 'schemas/asyncapi.json' } as const

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(`${repositoryRoot()}/${RECORDS_FILE}`, typesFromSchemas(newestSchemas()))
  const { openapi, asyncapi } = documents(DEFAULT_DOCUMENTS)
  writeFileSync(`${repositoryRoot()}/${DOCUMENT_FILES.openapi}`, documentText(openapi))
  writeFileSync(`${repositoryRoot()}/${DOCUMENT_FILES.asyncapi}`, documentText(asyncapi))
}
