/** The store: ClickHouse through its official client, the server or the embedded engine behind it. */
import type { TableName } from './tables.js'

export type QueryLimits = { maxSeconds?: number; maxRows?: number; maxBytes?: number }

export interface Store {
  /** Runs pending migrations; returns their names. */
  migrate(): Promise<string[]>
  /**
   * Inserts rows given as JSONCompactEachRow text (one JSON array per line, columns in the order of TABLES[table]).
   * Once resolved, queries see the rows.
   */
  insert(table: TableName, lines: string): Promise<void>
  /** The same with rows in the format of row-binary.ts. */
  insertRows(table: TableName, rows: Uint8Array): Promise<void>
  /** Rows of a SELECT as objects. `{name:Type}` placeholders take `params`. Bounded in time, rows and memory. */
  query<Row>(sql: string, params?: Record<string, unknown>, limits?: QueryLimits): Promise<Row[]>
  /** A statement without a result (DDL, DELETE). */
  command(sql: string, params?: Record<string, unknown>): Promise<void>
  ping(): Promise<void>
  close(): Promise<void>
}
