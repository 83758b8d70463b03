/** The store: ClickHouse through its official client, the server or the embedded engine behind it. */
import type { Readable } from 'node:stream'
import type { TableName } from './tables.js'

export type QueryLimits = { maxSeconds?: number; maxRows?: number; maxBytes?: number }

/** The setting `log_comment` of queries that users wrote. The embedded engine runs them apart from its own. */
export const USER_QUERY = 'dextape: SQL of a user'

/** The same of statements that no one waits for: a replay's. */
export const BACKGROUND_WORK = 'dextape: background work'

/** A parameter of requests to the embedded engine's socket: the answer is sent as the engine writes it. */
export const STREAMED = 'dextape_stream'

/** Settings of one query. */
export type ReadSettings = Readonly<Record<string, string | number>>

export interface Store {
  /** Runs pending migrations; returns their names. `onStep`: called before each and at the end. */
  migrate(onStep?: (done: number, pending: number) => void): Promise<string[]>
  /**
   * Inserts rows given as JSONCompactEachRow text (one JSON array per line, columns in the order of TABLES[table]).
   * Once resolved, queries see the rows.
   */
  insert(table: TableName, lines: string): Promise<void>
  /** The same with rows in the format of row-binary.ts. Once resolved, the bytes may be written over. */
  insertRows(table: TableName, rows: Uint8Array): Promise<void>
  /** Rows of a SELECT as objects. `{name:Type}` placeholders take `params`. Bounded in time, rows and memory. */
  query<Row>(sql: string, params?: Record<string, unknown>, limits?: QueryLimits): Promise<Row[]>
  /** The answer of a SELECT as the engine writes it, in the format that the statement names. Bounded by `settings` alone. */
  read(sql: string, settings: ReadSettings): Promise<Uint8Array>
  /**
   * The same for an answer of any size, in the engine's `format`, which the statement does not name. Rejects if the query fails
   * before its first byte; a later failure is an error of the stream. Destroying the stream ends the query.
   */
  stream(sql: string, format: string, settings: ReadSettings): Promise<Readable>
  /** The name of the database that has the tables. */
  readonly database: string
  /** A statement without a result (DDL, DELETE). */
  command(sql: string, params?: Record<string, unknown>): Promise<void>
  ping(): Promise<void>
  close(): Promise<void>
}
