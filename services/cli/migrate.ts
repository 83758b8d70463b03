/** `dextape migrate`: brings the store's tables to this version. `up` does the same at its start. */
import { openStore } from '../core/store/clickhouse.js'
import { openLocalStore } from '../core/store/local.js'
import { configOfExistingData, createdDir, type GlobalOptions, type World } from './context.js'

export async function migrate(world: World, options: GlobalOptions): Promise<void> {
  const config = configOfExistingData(world, options)
  const store =
    config.store.kind === 'clickhouse'
      ? await openStore({ kind: 'server', url: config.store.url })
      : await openLocalStore(createdDir(config).path)
  try {
    const ran = await store.migrate()
    for (const name of ran) await world.out.line(`ran ${name}`)
    if (ran.length === 0) await world.out.line('nothing to do: the store is up to date')
  } finally {
    await store.close()
  }
}
