/** Builds both documents from the declared operations and topics. */
import { Type } from '@sinclair/typebox'
import type { Config } from '../../core/config/config.js'
import { EXPORT, EXPORT_PARTITIONS } from '../export/export-routes.js'
import { OPERATOR_OPERATIONS } from '../operator/operator-routes.js'
import { NOTICES } from '../push/notices.js'
import { TOPICS } from '../push/topics/index.js'
import { OPERATIONS } from '../rest/operations/index.js'
import { WS_TOKEN } from '../rest/ws-token-route.js'
import { SQL_QUERY, SQL_SCHEMA } from '../sql/sql-routes.js'
import { asyncApiDocument } from './asyncapi.js'
import { type Document, type Documented, openApiDocument } from './openapi.js'

export type DocumentOptions = Pick<Config, 'envelope' | 'publicUrls' | 'publicWsUrl' | 'wsPort'>

/** The default configuration; the copies in schemas/ are generated with it. */
export const DEFAULT_DOCUMENTS: DocumentOptions = {
  ...{ envelope: 'spec', publicUrls: [], publicWsUrl: { kind: 'none' }, wsPort: 8081 },
}

/** Every operation, including those that are served separately. */
export const DOCUMENTED: readonly Documented[] = [
  ...OPERATIONS,
  SQL_QUERY,
  SQL_SCHEMA,
  EXPORT,
  EXPORT_PARTITIONS,
  ...OPERATOR_OPERATIONS,
  { ...WS_TOKEN, envelope: true, params: Type.Object({}), query: Type.Object({}) },
]

export function documents(options: DocumentOptions): Record<'openapi' | 'asyncapi', Document> {
  const { envelope, publicUrls, publicWsUrl, wsPort } = options
  return {
    openapi: openApiDocument({ operations: DOCUMENTED, envelope, publicUrls }),
    asyncapi: asyncApiDocument({ topics: [...TOPICS.values()], notices: NOTICES, publicWsUrl, wsPort }),
  }
}

/** Serialises a document as in schemas/. */
export function documentText(document: Document): string {
  return `${JSON.stringify(document, null, 2)}\n`
}
