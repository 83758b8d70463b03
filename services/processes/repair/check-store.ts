/** What the running engine says about the store's tables. */
import type { Store } from '../../core/store/port.js'
import { TABLES } from '../../core/store/tables.js'

/** Parts the engine could not read and set aside, and tables it does not have; cheap. */
export async function findBrokenTables(store: Store): Promise<string[]> {
  const { database } = store
  const detached = await store.query<{ table: string; name: string; reason: string }>(
    `SELECT table, name, reason FROM system.detached_parts
     WHERE database = {database:String} AND (reason LIKE 'broken%' OR reason LIKE 'covered-by-broken%')`,
    { database },
  )
  const tables = await store.query<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = {database:String}',
    { database },
  )
  const names = new Set(tables.map(({ name }) => name))
  return [
    ...Object.keys(TABLES).flatMap((table) => (names.has(table) ? [] : [`table ${table} is missing`])),
    ...detached.map(({ table, name, reason }) => `part ${name} of ${table} cannot be read (${reason})`),
  ]
}

/** Reads every byte of a table; `isPaused` is awaited between tables. */
export async function findBrokenParts(store: Store, pause: () => Promise<void>): Promise<string[]> {
  const broken: string[] = []
  for (const table of Object.keys(TABLES)) {
    const checks = await store.query<{ part_path: string; is_passed: number; message: string }>(
      `CHECK TABLE ${table} SETTINGS check_query_single_value_result = 0, max_threads = 1`,
      {},
      { maxSeconds: 0, maxRows: 1_000_000 },
    )
    for (const { part_path, is_passed, message } of checks)
      if (Number(is_passed) !== 1) broken.push(`part ${part_path} of ${table}: ${message.split('\n', 1)[0]}`)
    await pause()
  }
  return broken
}

/** Its tables are created again, empty. */
export async function emptyStore(store: Store): Promise<void> {
  await store.command(`DROP DATABASE IF EXISTS ${store.database} SYNC`)
  await store.migrate()
}
