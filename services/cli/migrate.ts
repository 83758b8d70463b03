/** `dextape migrate`: runs the store's pending migrations, as `up` does when it starts. */
import { dropStoreFileList } from '../core/store/store-files.js'
import {
  type Cli,
  configOfExistingData,
  createdDir,
  type GlobalOptions,
  loggerOf,
  progressOf,
  type World,
} from './context.js'
import { withStore } from './open-data.js'

export function addMigrate({ program, world, act }: Cli): void {
  program
    .command('migrate')
    .description('Migrate the store to this version (`up` does this when it starts)')
    .action(act((options) => migrate(world, options)))
}

async function migrate(world: World, options: GlobalOptions): Promise<void> {
  const config = configOfExistingData(world, options)
  await withStore(
    config,
    () => createdDir(config),
    async (store) => {
      const progress = progressOf(world, loggerOf(world, config), { message: 'migrating', unit: 'migrations' })
      const applied = await store.migrate(progress.report).finally(progress.end)
      // Its tables are other files now.
      if (applied.length > 0 && config.store.kind === 'embedded') dropStoreFileList(config.dataDir)
      for (const name of applied) await world.out.line(`applied ${name}`)
      if (applied.length === 0) await world.out.line('the store is up to date')
    },
  )
}
