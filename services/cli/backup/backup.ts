/** `dextape backup` and `dextape restore`: what cannot be computed again, in files that any machine can read. */
import {
  type Cli,
  configOf,
  configOfExistingData,
  existingDir,
  type GlobalOptions,
  loggerOf,
  progressOf,
  type World,
} from '../context.js'

export function addBackup({ program, world, act }: Cli): void {
  program
    .command('backup')
    .description('Back up the log, the keys and the positions of the sources')
    .argument('<dir>', 'Folder of the backup; a later run adds what is new')
    .addHelpText(
      'after',
      [
        '\nWorks while `up` runs. Checkpoints and the store are not in it: `dextape restore` computes them from the log.',
        '\nExample:\n  dextape backup /mnt/backup/dextape',
      ].join('\n'),
    )
    .action(act((options, folder = '') => backUp(world, folder, options)))
  program
    .command('restore')
    .description('Create a data directory from a backup')
    .argument('<dir>', 'Folder of the backup')
    .addHelpText(
      'after',
      [
        '\nFolds the chains from the log in the epochs they were in, so that clients resume by their cursors. Use the',
        'configuration of the server that was backed up: with other money tokens the first start folds in a new epoch.',
        '\nExample:\n  dextape restore /mnt/backup/dextape --data-dir .dextape',
      ].join('\n'),
    )
    .action(act((options, folder = '') => restore(world, folder, options)))
}

async function backUp(world: World, folder: string, options: GlobalOptions): Promise<void> {
  const dir = existingDir(configOfExistingData(world, options))
  const { writeBackup } = await import('./write-backup.js')
  const { records, bytes } = await writeBackup(dir, folder, world.nowMs())
  await world.out.line(`${folder}: ${records} new records, ${bytes} bytes`)
}

async function restore(world: World, folder: string, options: GlobalOptions): Promise<void> {
  const config = configOf(world, options)
  const { dataDir } = config
  const { restoreBackup } = await import('./restore-backup.js')
  const logger = loggerOf(world, config)
  const what = { message: 'folding the restored log', unit: 'updates', everyMs: config.intervals.progressMs }
  const progress = (chain: string) => progressOf(world, logger, { ...what, fields: { chain } })
  const { records, folded } = await restoreBackup(folder, dataDir, { config, logger, nowMs: world.nowMs, progress })
  const chains = folded.length === 0 ? 'The first start folds the chains' : `Folded: ${folded.join(', ')}`
  await world.out.line(`${dataDir}: ${records} records restored. ${chains}.`)
}
