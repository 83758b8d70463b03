/** The command line. Each command registers its own options and help, and loads what it runs when it is called. */
import { Command, CommanderError } from 'commander'
import { ENVIRONMENT } from '../core/config/index.js'
import { EXIT } from '../core/runtime/run-main.js'
import { createPaint } from '../core/runtime/terminal.js'
import { VERSION } from '../core/runtime/version.js'
import { addBackfill } from './backfill/backfill.js'
import { addBackup } from './backup/backup.js'
import type { Act, Cli, World } from './context.js'
import { addDead } from './dead.js'
import { addDecode } from './decode/decode.js'
import { addDoctor } from './doctor/doctor.js'
import { addExport } from './export/export.js'
import { addKeys } from './keys.js'
import { addListen } from './listen.js'
import { addMcp } from './mcp.js'
import { addMigrate } from './migrate.js'
import { addRepair } from './repair.js'
import { addReplay } from './replay/replay.js'
import { addScope } from './scope/scope.js'
import { addServices } from './services.js'
import { addSimulate } from './simulate.js'
import { addSql } from './sql/sql.js'
import { addStatus } from './status/status.js'
import { addTopics } from './topics/topics.js'
import { addVerify } from './verify/verify.js'
import { addWatch } from './watch/watch.js'

/** In the order `--help` lists them. */
const COMMANDS: readonly ((cli: Cli) => void)[] = [
  ...[
    addServices,
    addScope,
    addBackfill,
    addReplay,
    addVerify,
    addStatus,
    addWatch,
    addListen,
    addSql,
    addExport,
    addMcp,
    addDecode,
    addSimulate,
  ],
  ...[addTopics, addDead, addKeys, addMigrate, addBackup, addRepair, addDoctor],
]

/** Commander leaves colours out where the output has none. */
const { bold, cyan } = createPaint(true)
const HELP_STYLE = { styleTitle: bold, styleCommandText: cyan, styleSubcommandText: cyan, styleOptionText: cyan }

export function buildProgram(world: World, exitWith: (code: number) => void): Command {
  const program = new Command('dextape')
    .description('A self-hosted tape of decentralised exchanges: reads swaps and liquidity, serves candles and prices.')
    .version(VERSION, '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Show help')
    .helpCommand('help [command]', 'Show help for a command')
    .option('-c, --config <file>', 'Configuration file, YAML or JSON (DEXTAPE_CONFIG)')
    .option('-d, --data-dir <dir>', 'Data directory (DEXTAPE_DATA_DIR)')
    .configureHelp(HELP_STYLE)
    .showHelpAfterError('(add --help for usage)')
    .exitOverride()
    .addHelpText('after', helpTail())

  const act: Act =
    (run) =>
    async (...given) => {
      const command = given.at(-1) as Command
      const result = await run(command.optsWithGlobals(), ...(command.processedArgs as string[]))
      exitWith(typeof result === 'number' ? result : EXIT.ok)
    }
  for (const add of COMMANDS) add({ program, world, act })
  return program
}

function helpTail(): string {
  const variables = Object.entries(ENVIRONMENT).map(([name, use]) => `  ${name.padEnd(23)} ${use}`)
  return [
    '\nExamples:',
    '  dextape up',
    '  dextape up --events recording.jsonl.gz',
    '  dextape keys create --name my-bot --plan pro',
    '  dextape topics tail eth -n 3',
    "  dextape sql -c 'SELECT count() FROM trades'",
    '  dextape export trades --chain eth --out trades.parquet',
    '  dextape dead ls',
    '\nEnvironment:',
    ...variables,
    `\nExit codes: ${EXIT.ok} success, ${EXIT.failed} failure, ${EXIT.usage} unknown command or option, ${EXIT.config} invalid configuration.`,
  ].join('\n')
}

/** After `sql`, `-c` names the query, as in every SQL shell. Commander would take it for the program's own --config. */
export function sqlArguments(args: readonly string[]): readonly string[] {
  const at = args.findIndex(
    (arg, index) => !arg.startsWith('-') && !/^(-[cd]|--config|--data-dir)$/.test(args[index - 1] ?? ''),
  )
  if (args[at] !== 'sql') return args
  return args.map((arg, index) => (index > at && arg === '-c' ? '--command' : arg))
}

/** Resolves with the exit code. Commander has already printed usage errors. */
export async function runCli(world: World, args: readonly string[]): Promise<number> {
  let code: number = EXIT.ok
  const program = buildProgram(world, (given) => {
    code = given
  })
  try {
    await program.parseAsync(sqlArguments(args), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  }
  return code
}
