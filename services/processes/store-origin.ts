/** A database may be shared by several data directories: it keeps a mark of its own. */
import { mixed, type Origin } from '../core/data-dir/origin.js'
import type { Store } from '../core/store/port.js'

export async function claimStore(store: Store, wanted: Origin): Promise<void> {
  const [marked] = await store.query<{ origin: Origin }>('SELECT origin FROM origin_rows LIMIT 1')
  // Rows without a mark were written before there were marks, and are real.
  const [progress] = marked === undefined ? await store.query('SELECT 1 FROM progress_rows LIMIT 1') : []
  const held = marked?.origin ?? (progress === undefined ? undefined : 'real')
  if (held !== undefined && held !== wanted)
    throw mixed('The store', held, wanted, 'Name another database in CLICKHOUSE_URL, or another data directory.')
  if (marked === undefined) await store.command('INSERT INTO origin_rows SELECT {origin:String}', { origin: wanted })
}
