/** Opens the configured store for a process that writes or serves. */

import type { Config } from '../core/config/index.js'
import { mixed, type Origin } from '../core/data-dir/origin.js'
import type { Health } from '../core/runtime/part-health.js'
import type { Shutdown } from '../core/runtime/shutdown.js'
import { openStore, type StoreOptions } from '../core/store/clickhouse-store.js'
import { serveEngine } from '../core/store/engine-socket.js'
import { enginePathOf, socketPathOf } from '../core/store/local-store.js'
import type { Store } from '../core/store/port.js'

/** Folded rows are still stored during shutdown; an unreachable store is retried for this long. */
const STORE_STOP_MS = 3000

export type Closing = (() => Promise<void> | void)[]

/** `flush` stores rows that wait for their batch: another process may ask for it. */
export async function openConfiguredStore(
  config: Pick<Config, 'store' | 'dataDir'>,
  health: Health,
  shutdown: Shutdown,
  closing: Closing,
  flush?: () => Promise<void>,
): Promise<Store> {
  const giveUp = new AbortController()
  shutdown.signal.addEventListener('abort', () => setTimeout(() => giveUp.abort(), STORE_STOP_MS).unref(), {
    once: true,
  })
  const options: StoreOptions = { signal: giveUp.signal, ...health.reachabilityOf('store') }
  if (config.store.kind === 'clickhouse') {
    const store = await openStore({ kind: 'server', url: config.store.url }, options)
    closing.push(() => store.close())
    return store
  }
  const store = await openStore({ kind: 'embedded', path: enginePathOf(config.dataDir) }, options)
  closing.push(() => store.close())
  const engine = await serveEngine(enginePathOf(config.dataDir), socketPathOf(config.dataDir), flush)
  closing.push(() => engine.close())
  return store
}

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
