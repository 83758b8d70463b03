import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repositoryRoot } from '../../../schemas/avro.js'
import { DOCUMENT_FILES } from '../../../schemas/generate.js'
import { DEFAULT_DOCUMENTS, documents, documentText } from '../../../services/serve/documents/build-documents.js'

it.each(['openapi', 'asyncapi'] as const)(
  'schemas/%s.json matches the declarations (if not: npm run generate)',
  (name) => {
    const file = readFileSync(join(repositoryRoot(), DOCUMENT_FILES[name]), 'utf8')
    expect(file).toBe(documentText(documents(DEFAULT_DOCUMENTS)[name]))
  },
)
