/** `dextape repair`: checks every byte of a data directory that is not in use, and removes what is damaged. */
import { lockDataDir } from '../core/data-dir/lock.js'
import { openRepairs } from '../core/data-dir/repairs.js'
import { EXIT } from '../core/runtime/run-main.js'
import { type Cli, configOfExistingData, existingDir, type GlobalOptions, loggerOf, type World } from './context.js'

type RepairOptions = GlobalOptions & { acceptLoss?: boolean }

export function addRepair({ program, world, act }: Cli): void {
  program
    .command('repair')
    .description('Find damage in the data directory and repair it')
    .option('--accept-loss', 'Keep the readable records of a log whose lost blocks no source has')
    .addHelpText(
      'after',
      [
        '\nA start of `up` does the same, and a running `up` checks its data every few hours: this command is for a data',
        'directory that is not in use. Chains are folded again by the next start.',
        '\nExamples:\n  dextape repair\n  dextape repair --accept-loss',
      ].join('\n'),
    )
    .action(act<RepairOptions>((options) => repair(world, options)))
}

async function repair(world: World, options: RepairOptions): Promise<number> {
  const config = configOfExistingData(world, options)
  const dir = existingDir(config)
  const logger = loggerOf(world, config)
  const lock = lockDataDir(dir)
  try {
    const { healAtStart, healStoppedStore } = await import('../processes/repair/heal-at-start.js')
    const repairs = openRepairs(dir.path, logger)
    const found: string[] = []
    const noting = {
      ...repairs,
      begin(...[damage, ...rest]: Parameters<typeof repairs.begin>) {
        found.push(`${damage.what}\n  → ${damage.answer}`)
        repairs.begin(damage, ...rest)
      },
    }
    const source = { kind: options.acceptLoss === true ? ('any' as const) : ('none' as const) }
    await healAtStart(dir, { source, repairs: noting, logger, isThorough: true })
    if (config.store.kind === 'embedded') await healStoppedStore(dir, noting)
    for (const line of found) await world.out.line(line)
    await world.out.line(found.length === 0 ? 'No damage found.' : 'Start `dextape up` to finish the repair.')
    return EXIT.ok
  } finally {
    lock.release()
  }
}
