/** `dextape sql`: queries over the views of a running server, one from the command line or many at a prompt. */
import { once } from 'node:events'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { Option } from 'commander'
import { EXIT } from '../../core/runtime/run-main.js'
import { FORMAT_NAMES, type Format } from '../../serve/sql/formats.js'
import { type Cli, configOfExistingData, type GlobalOptions, keyOf, type World } from '../context.js'
import { createRestClient } from '../rest-client.js'
import { createSqlClient } from './sql-client.js'

type SqlOptions = GlobalOptions & { command?: string; format?: Format; key?: string; url?: string }

export function addSql({ program, world, act }: Cli): void {
  program
    .command('sql')
    .description('Query the views of a running server')
    // `-c` is --config for every other command: see sqlArguments in program.ts.
    .option('-c, --command <query>', 'Run one query and exit')
    .addOption(new Option('-f, --format <format>', 'Output format').choices(FORMAT_NAMES).default('pretty'))
    .option('-k, --key <key>', 'API key of a plan with SQL (DEXTAPE_API_KEY)')
    .option('-u, --url <url>', 'REST URL (default: the configured host and port)')
    .addHelpText(
      'after',
      [
        '\nWithout --command, it reads one query from a pipe, or starts a prompt on a terminal. docs/sql.md lists the views.',
        '\nExamples:',
        '  dextape sql --key $KEY',
        "  dextape sql --key $KEY -c 'SELECT chain, sum(amount_usd) FROM trades GROUP BY chain'",
        "  dextape sql --key $KEY -c 'SELECT * FROM candles' --format parquet > candles.parquet",
      ].join('\n'),
    )
    .action(act<SqlOptions>((options) => runSql(world, options)))
}

async function runSql(world: World, options: SqlOptions): Promise<number> {
  const config = configOfExistingData(world, options)
  const key = keyOf(config, options, 'dextape keys create --name NAME --plan pro')
  const client = createSqlClient(createRestClient(config, options.url, key))
  const { format = 'pretty', command } = options
  if (command === undefined && process.stdin.isTTY) {
    const { runShell } = await import('./shell.js')
    const history = join(homedir(), '.dextape_sql_history')
    return runShell({ client, format, history, input: process.stdin, output: process.stdout })
  }
  const query = command ?? (await readText(world.stdin))
  const { body } = await client.run(query, format)
  if (!world.stdout.write(body)) await once(world.stdout, 'drain')
  return EXIT.ok
}
