/** `dextape backup` and `dextape restore`: what cannot be computed again, in files that any machine can read. */
import { type Cli, configOf, configOfExistingData, existingDir, type GlobalOptions, type World } from '../context.js'

export function addBackup({ program, world, act }: Cli): void {
  program
    .command('backup')
    .description('Back up the log, the keys and the positions of the sources')
    .argument('<dir>', 'Folder of the backup; a later run adds what is new')
    .addHelpText(
      'after',
      [
        '\nWorks while `up` runs. Checkpoints and the store are not in it: after a restore they are computed from the log.',
        '\nExample:\n  dextape backup /mnt/backup/dextape',
      ].join('\n'),
    )
    .action(act((options, folder = '') => backUp(world, folder, options)))
  program
    .command('restore')
    .description('Create a data directory from a backup')
    .argument('<dir>', 'Folder of the backup')
    .addHelpText('after', '\nExample:\n  dextape restore /mnt/backup/dextape --data-dir .dextape')
    .action(act((options, folder = '') => restore(world, folder, options)))
}

async function backUp(world: World, folder: string, options: GlobalOptions): Promise<void> {
  const dir = existingDir(configOfExistingData(world, options))
  const { writeBackup } = await import('./write-backup.js')
  const { records, bytes } = await writeBackup(dir, folder, world.nowMs())
  await world.out.line(`${folder}: ${records} new records, ${bytes} bytes`)
}

async function restore(world: World, folder: string, options: GlobalOptions): Promise<void> {
  const { dataDir } = configOf(world, options)
  const { restoreBackup } = await import('./restore-backup.js')
  const records = await restoreBackup(folder, dataDir)
  await world.out.line(`${dataDir}: ${records} records restored. Start \`dextape up\` to compute the rest from them.`)
}
