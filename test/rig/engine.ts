/**
 * The ClickHouse of a data directory in tests: the embedded engine or, if CLICKHOUSE_URL is set, a separate database on
 * that server. npm has no engine for some CPUs.
 */
import { createHash } from 'node:crypto'
import type { StoreTarget } from '../../services/core/store/clickhouse-store.js'
import { enginePathOf } from '../../services/core/store/local-store.js'

const server = process.env.CLICKHOUSE_URL

export function storeTargetOf(dataDir: string): StoreTarget {
  const { CLICKHOUSE_URL: url } = storeEnvironmentOf(dataDir)
  return url === undefined ? { kind: 'embedded', path: enginePathOf(dataDir) } : { kind: 'server', url }
}

/** The environment a command needs to use that store. */
export function storeEnvironmentOf(dataDir: string): { CLICKHOUSE_URL?: string } {
  if (server === undefined) return {}
  const database = `it_${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`
  return { CLICKHOUSE_URL: new URL(database, server).href }
}
