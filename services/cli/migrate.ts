/** `dextape migrate`: brings the store's tables to this version. `up` does the same at its start. */
import { openStore } from '../core/store/clickhouse-store.js'
import { openLocalStore } from '../core/store/local-store.js'
import { configBeside, type GlobalOptions, ownDir, type World } from './context.js'

export async function migrate(world: World, options: GlobalOptions): Promise<void> {
  const config = configBeside(world, options)
  const store =
    config.store.kind === 'clickhouse'
      ? await openStore({ kind: 'server', url: config.store.url })
      : await openLocalStore(ownDir(config).path)
  try {
    const ran = await store.migrate()
    for (const name of ran) await world.out.line(`ran ${name}`)
    if (ran.length === 0) await world.out.line('nothing to do: the store is up to date')
  } finally {
    await store.close()
  }
}
