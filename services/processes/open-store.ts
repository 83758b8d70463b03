/** The store the configuration names, for a process that writes or serves. */
import type { Config } from '../core/config/index.js'
import type { Health } from '../core/runtime/part-health.js'
import type { Shutdown } from '../core/runtime/shutdown.js'
import { openStore, type StoreOptions } from '../core/store/clickhouse-store.js'
import { serveEngine } from '../core/store/engine-socket.js'
import { enginePathOf, socketPathOf } from '../core/store/local-store.js'
import type { Store } from '../core/store/port.js'

/** After the signal to stop, what is folded is still stored; a store that is away then is waited for this long. */
const STORE_STOP_MS = 3000

export type Closing = (() => Promise<void> | void)[]

export async function openConfiguredStore(
  config: Pick<Config, 'store' | 'dataDir'>,
  health: Health,
  shutdown: Shutdown,
  closing: Closing,
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
  const engine = await serveEngine(enginePathOf(config.dataDir), socketPathOf(config.dataDir))
  closing.push(() => engine.close())
  return store
}
