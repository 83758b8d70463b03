/**
 * The ClickHouse a data directory's store stands on in tests: the embedded engine, or, where CLICKHOUSE_URL is set (npm has no
 * engine for every CPU), a database of its own on that server.
 */
import { createHash } from 'node:crypto'
import type { StoreTarget } from '../../services/core/store/clickhouse-store.js'
import { enginePathOf } from '../../services/core/store/local-store.js'

const server = process.env.CLICKHOUSE_URL

export function storeTargetOf(dataDir: string): StoreTarget {
  const { CLICKHOUSE_URL: url } = storeEnvironmentOf(dataDir)
  return url === undefined ? { kind: 'embedded', path: enginePathOf(dataDir) } : { kind: 'server', url }
}

/** What a command needs in its environment to use that store. */
export function storeEnvironmentOf(dataDir: string): { CLICKHOUSE_URL?: string } {
  if (server === undefined) return {}
  const database = `it_${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`
  return { CLICKHOUSE_URL: new URL(database, server).href }
}
