/** The store over the official client, the same for every engine. */
import { setTimeout as sleep } from 'node:timers/promises'
import { DextapeError } from '../domain/errors.js'
import type { Reachability } from '../runtime/part-health.js'
import { type Clients, connect, SILENCE_MS, type StoreTarget } from './connect.js'
import { migrate } from './migrations.js'
import type { QueryLimits, Store } from './port.js'
import { type ReadCell, readRows } from './row-binary.js'
import { isTransient, storeFault, unreachableReason } from './store-faults.js'
import { TABLES, type TableName } from './tables.js'

export type { StoreTarget } from './connect.js'

export type Trouble = { doing: string; attempt: number; waitMs: number; error: DextapeError }

export type StoreOptions = Partial<Reachability> & {
  /** Ends waiting inserts, as close() does. */
  signal?: AbortSignal
  /** Called at each failed attempt of an insert that will be retried. */
  onTrouble?: (trouble: Trouble) => void
  limits?: QueryLimits
}

/** Short enough that one heavy query does not delay the others for long. */
export const DEFAULT_LIMITS: Required<QueryLimits> = { maxSeconds: 10, maxRows: 100_000, maxBytes: 1_000_000_000 }

/**
 * Part of the statement, not of the request: in the embedded engine, settings of a request become `SET …;` before the text, and
 * each costs another scan of the whole batch (two of them: 1.6 times the CPU).
 */
const INSERT_SETTINGS = [
  'async_insert = 0',
  // A batch has hardly any key twice: merging its rows by key was a third of an insert's CPU.
  'optimize_on_insert = 0',
  'input_format_null_as_default = 1',
  'input_format_parallel_parsing = 0',
  // A sparse recording over years has a batch in many months.
  'max_partitions_per_insert_block = 0',
  'max_execution_time = 0',
  'max_memory_usage = 0',
].join(', ')

/** A server that hangs must not block the shutdown. */
const CLOSE_WAIT_MS = 15_000

const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 5_000

const UNLIMITED = { max_execution_time: 0, max_result_rows: '0', max_memory_usage: '0' }

export async function openStore(target: StoreTarget, options: StoreOptions = {}): Promise<Store> {
  const clients = await connect(target)
  const ending = new AbortController()
  const signal = options.signal === undefined ? ending.signal : AbortSignal.any([options.signal, ending.signal])
  const running = new Set<Promise<unknown>>()
  const prepared = new WeakSet<object>()
  const reachability = createStoreReachability(options)

  /** close() awaits the statements that run here. */
  async function guard<T>(doing: string, run: () => Promise<T>): Promise<T> {
    if (ending.signal.aborted) throw closed(doing)
    const work = run().catch((error) => {
      throw storeFault(error, doing)
    })
    running.add(work)
    return work.finally(() => running.delete(work))
  }

  async function ask<T>(doing: string, run: () => Promise<T>): Promise<T> {
    try {
      const answer = await guard(doing, run)
      reachability.worked('other')
      return answer
    } catch (error) {
      if (error instanceof DextapeError && error.code === 'store_away') reachability.failed('other', error)
      throw error
    }
  }

  /** The embedded engine's sessions start in `default`. */
  async function inDatabase(client: Clients['write']): Promise<Clients['write']> {
    if (clients.sticky && !prepared.has(client)) {
      await client.command({ query: `USE ${clients.database}` })
      prepared.add(client)
    }
    return client
  }

  const { defining = (sql: string) => sql } = clients
  const command = async (sql: string, params: Record<string, unknown> = {}) => {
    const client = await inDatabase(clients.write)
    await client.command({ query: defining(sql), query_params: params, clickhouse_settings: UNLIMITED })
  }

  const runQuery = async <Row>(
    reader: Clients['write'],
    sql: string,
    params: Record<string, unknown>,
    asked: QueryLimits,
  ) => {
    const { maxSeconds, maxRows, maxBytes } = { ...DEFAULT_LIMITS, ...options.limits, ...asked }
    const client = await inDatabase(reader)
    // An engine in this process does not hang, and its statements may wait long in the queue.
    const isBounded = !clients.sticky && maxSeconds > 0
    const result = await client.query({
      ...(isBounded ? { abort_signal: AbortSignal.timeout(maxSeconds * 1000 + SILENCE_MS) } : {}),
      query: sql,
      query_params: params,
      format: 'JSONEachRow',
      clickhouse_settings: {
        max_execution_time: maxSeconds,
        max_result_rows: String(maxRows),
        result_overflow_mode: 'throw',
        max_memory_usage: String(maxBytes),
        // An error in the middle of an answer must not look like its end.
        wait_end_of_query: 1,
        // A plain JSON.parse corrupts integers above 2^53 and decimals.
        output_format_json_quote_64bit_integers: 1,
        output_format_json_quote_decimals: 1,
      },
    })
    return result.json<Row>()
  }

  /** Queries of each reader, running or waiting: a session of the embedded engine runs one after another. */
  const busy = new Map(clients.readers.map((reader) => [reader, 0]))

  const rows = async <Row>(sql: string, params: Record<string, unknown> = {}, asked: QueryLimits = {}) => {
    const reader = leastBusy(busy) ?? clients.write
    busy.set(reader, (busy.get(reader) ?? 0) + 1)
    try {
      return await runQuery<Row>(reader, sql, params, asked)
    } finally {
      busy.set(reader, (busy.get(reader) ?? 1) - 1)
    }
  }

  function untilInserted(table: TableName, send: (client: Clients['write']) => Promise<unknown>): Promise<void> {
    const doing = `an insert into ${table}`
    const onTrouble = (trouble: Trouble) => {
      reachability.failed('insert', trouble.error)
      options.onTrouble?.(trouble)
    }
    const plan = { doing, signal, isTransient, asFault: (error: unknown) => storeFault(error, doing), onTrouble }
    return guard(doing, () =>
      untilDone(plan, async () => {
        await send(await inDatabase(clients.write))
        reachability.worked('insert')
      }),
    )
  }

  const insertText = (table: TableName, lines: string): Promise<void> => {
    if (lines.trim() === '') return Promise.resolve()
    const query = `${insertHead(table, 'JSONCompactEachRow')}\n${lines}`
    return untilInserted(table, (client) => client.command({ query }))
  }

  return {
    migrate: (onStep) =>
      ask('a migration', async () => {
        await clients.bootstrap.command({ query: defining(`CREATE DATABASE IF NOT EXISTS ${clients.database}`) })
        return migrate({ command, query: rows }, onStep)
      }),
    insert: insertText,
    insertRows: (table, rows) => {
      const { insertBytes } = clients
      if (rows.length === 0) return Promise.resolve()
      if (insertBytes === null) return insertText(table, jsonLines(table, rows))
      return untilInserted(table, () => insertBytes(insertHead(table, 'RowBinary'), rows))
    },
    query: <Row>(sql: string, params?: Record<string, unknown>, limits?: QueryLimits) =>
      ask('a query', () => rows<Row>(sql, params, limits)),
    // Not a sign of the store's health: such a query may take longer than the engine can be stopped.
    read: (sql, settings) => guard('a query', () => clients.read(sql, settings)),
    stream: (sql, format, settings) => guard('a query', () => clients.stream(sql, format, settings)),
    database: clients.database,
    command: (sql, params) => ask('a command', () => command(sql, params)),
    ping: () =>
      ask('a ping', async () => {
        const answer = await clients.write.ping({ select: true })
        if (!answer.success) throw answer.error
      }),
    close: async () => {
      if (ending.signal.aborted) return
      ending.abort()
      await Promise.race([Promise.allSettled(running), sleep(CLOSE_WAIT_MS, undefined, { ref: false })])
      await clients.close()
    },
  }
}

function leastBusy<Reader>(busy: ReadonlyMap<Reader, number>): Reader | undefined {
  let least: [Reader, number] | undefined
  for (const one of busy) if (least === undefined || one[1] < least[1]) least = one
  return least?.[0]
}

function insertHead(table: TableName, format: 'JSONCompactEachRow' | 'RowBinary'): string {
  return `INSERT INTO ${table} (${TABLES[table].join(', ')}) SETTINGS ${INSERT_SETTINGS} FORMAT ${format}`
}

function jsonLines(table: TableName, rows: Uint8Array): string {
  // In an array the engine takes null for 0; elsewhere for the column's default, which is not a number either.
  const unknownAsNan = (cell: ReadCell) => (Array.isArray(cell) ? cell.map((figure) => figure ?? 'nan') : cell)
  return [...readRows(table, rows)].map((row) => JSON.stringify(row.map(unknownAsNan))).join('\n')
}

type Statement = 'insert' | 'other'

/** Reports once when statements fail because the store is unreachable, and once when they work again. */
export function createStoreReachability({ onUnreachable, onReachable }: Partial<Reachability>) {
  const failing = new Set<Statement>()
  return {
    failed(statement: Statement, fault: DextapeError): void {
      failing.add(statement)
      onUnreachable?.(unreachableReason(fault))
    },
    worked(statement: Statement): void {
      if (failing.size === 0) return
      // A store that takes rows answers queries; one that answers queries may still refuse rows (too many parts, a full disk).
      if (statement === 'insert') failing.clear()
      else failing.delete(statement)
      if (failing.size === 0) onReachable?.()
    },
  }
}

export type RetryPlan = {
  doing: string
  signal: AbortSignal
  isTransient: (error: unknown) => boolean
  asFault: (error: unknown) => DextapeError
  onTrouble: (trouble: Trouble) => void
}

/** Retries until it works or the signal aborts: a batch is never dropped because the store was unreachable. */
export async function untilDone<T>(plan: RetryPlan, run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    if (plan.signal.aborted) throw closed(plan.doing)
    try {
      return await run()
    } catch (error) {
      const fault = plan.asFault(error)
      if (!plan.isTransient(error)) throw fault
      const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1))
      plan.onTrouble({ doing: plan.doing, attempt, waitMs, error: fault })
      await sleep(waitMs, undefined, { signal: plan.signal }).catch(() => {})
    }
  }
}

export function closed(doing: string): DextapeError {
  return new DextapeError({ code: 'store_closed', what: `The store was closed before ${doing} was done`, retry: true })
}
