/** Both documents of this program as it is declared now. */
import { TOPICS } from '../push/topics/index.js'
import { OPERATIONS } from '../rest/operations/index.js'
import { asyncApiDocument } from './asyncapi.js'
import { type Document, openApiDocument } from './openapi.js'

export type DocumentOptions = { envelope: 'spec' | 'always'; publicUrls: readonly string[]; wsPort: number }

/** What an installation that configured nothing serves; schemas/ holds the documents in this form. */
export const DEFAULT_DOCUMENTS: DocumentOptions = { envelope: 'spec', publicUrls: [], wsPort: 8081 }

export function documents({ envelope, publicUrls, wsPort }: DocumentOptions): Record<'openapi' | 'asyncapi', Document> {
  return {
    openapi: openApiDocument({ operations: OPERATIONS, envelope, publicUrls }),
    asyncapi: asyncApiDocument({ topics: [...TOPICS.values()], notices: [], wsPort }),
  }
}

/** As the documents are kept in files. */
export function documentText(document: Document): string {
  return `${JSON.stringify(document, null, 2)}\n`
}
