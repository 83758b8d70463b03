/** Opens the configured store for a process that writes or serves. */

import type { Config, StoreChoice } from '../core/config/index.js'
import { mixed, type Origin } from '../core/data-dir/origin.js'
import type { Health } from '../core/runtime/part-health.js'
import { openStore, type StoreOptions, type StoreTarget } from '../core/store/clickhouse-store.js'
import { enginePathOf, socketPathOf } from '../core/store/local-store.js'
import type { Store } from '../core/store/port.js'
import { replayDatabase } from '../core/store/tables.js'

/**
 * Folded rows are still stored during shutdown, for at most this long. What is not stored then is folded again by the next start;
 * the rest of a stop's five seconds is for closing.
 */
const STORE_STOP_MS = 2000

export type Closing = (() => Promise<void> | void)[]

/** The embedded engine is reached through the socket of the thread that runs it. */
export async function openConfiguredStore(
  config: Pick<Config, 'store' | 'dataDir'>,
  health: Health,
  signal: AbortSignal,
  closing: Closing,
): Promise<Store> {
  const giveUp = new AbortController()
  signal.addEventListener('abort', () => setTimeout(() => giveUp.abort(), STORE_STOP_MS).unref(), { once: true })
  const options: StoreOptions = { signal: giveUp.signal, ...health.reachabilityOf('store') }
  const store = await openStore(targetOf(config), options)
  closing.push(() => store.close())
  return store
}

/** The store whose tables have the rows of a chain's replay. */
export function openReplayStore(
  config: Pick<Config, 'store' | 'dataDir'>,
  chain: string,
  database: string,
): Promise<Store> {
  return openStore({ ...targetOf(config), database: replayDatabase(database, chain) })
}

function targetOf({ store, dataDir }: Pick<Config, 'store' | 'dataDir'>): StoreTarget {
  if (store.kind === 'clickhouse') return serverTarget(store)
  return { kind: 'socket', path: socketPathOf(dataDir), enginePath: enginePathOf(dataDir) }
}

export const serverTarget = (choice: Extract<StoreChoice, { kind: 'clickhouse' }>): StoreTarget => ({
  ...choice,
  kind: 'server',
})

/** Marks the store as real or simulated: several data directories may share one database. */
export async function claimStore(store: Store, wanted: Origin): Promise<void> {
  const [marked] = await store.query<{ origin: Origin }>('SELECT origin FROM origin_rows LIMIT 1')
  // Rows without a mark are older than marks, and real.
  const [progress] = marked === undefined ? await store.query('SELECT 1 FROM progress_rows LIMIT 1') : []
  const held = marked?.origin ?? (progress === undefined ? undefined : 'real')
  if (held !== undefined && held !== wanted)
    throw mixed('The store', held, wanted, 'Use another database in CLICKHOUSE_URL, or another data directory.')
  if (marked === undefined) await store.command('INSERT INTO origin_rows SELECT {origin:String}', { origin: wanted })
}
