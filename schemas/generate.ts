/** Writes services/core/domain/records.ts from the newest version of each Avro schema: `npm run generate`. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { newestSchemas, repositoryRoot } from './avro.js'
import { typesFromSchemas } from './types-from-avro.js'

export const RECORDS_FILE = 'services/core/domain/records.ts'

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(`${repositoryRoot()}/${RECORDS_FILE}`, typesFromSchemas(newestSchemas()))
}
