/** The command line: which command, with which options. Each command is a file of its own, loaded when it is asked for. */
import { Command, CommanderError, Option } from 'commander'
import { ENVIRONMENT } from '../core/config/index.js'
import { PLANS } from '../core/keys/key-store.js'
import { EXIT } from '../core/runtime/run-main.js'
import { VERSION } from '../core/runtime/version.js'
import type { Act } from './act.js'
import { addChainOptions, CHAIN_HELP, type ChainOptions } from './chain-options.js'
import { configBeside, type GlobalOptions, loggerOf, type World } from './context.js'
import { addBackfill, addCluster, addUp } from './service-commands.js'

type ExitWith = (code: number) => void

export function buildProgram(world: World, exitWith: ExitWith): Command {
  const program = new Command('dextape')
    .description('The tape of decentralised exchanges, self-hosted: swaps and liquidity in, candles and prices out.')
    .version(VERSION, '-V, --version', 'print the version')
    .option('-c, --config <file>', 'configuration file, YAML or JSON (DEXTAPE_CONFIG)')
    .option('-d, --data-dir <dir>', 'data directory (DEXTAPE_DATA_DIR)')
    .showHelpAfterError('(add --help for usage)')
    .exitOverride()
    .addHelpText('after', helpTail())

  /** Runs a command's action with its own and the global options. */
  const act =
    <Options>(run: (options: Options & GlobalOptions, ...args: string[]) => Promise<unknown>) =>
    async (...given: unknown[]) => {
      const command = given.at(-1) as Command
      const result = await run(command.optsWithGlobals(), ...(command.processedArgs as string[]))
      exitWith(typeof result === 'number' ? result : EXIT.ok)
    }

  addUp(program, world, act)
  addCluster(program, world, act)
  addBackfill(program, world, act)

  program
    .command('verify')
    .description('fold the log again and compare with what is stored')
    .option('--chain <chain>', 'only this chain')
    .action(
      act<{ chain?: string }>(async (options) => {
        const config = configBeside(world, options)
        const { runVerify } = await import('./verify/verify.js')
        return runVerify({ config, chain: options.chain, logger: loggerOf(world, config), out: world.out })
      }),
    )

  program
    .command('listen')
    .description('subscribe and print every push as a JSON line')
    .argument('<topic>', 'tx, multi_tx, liq, kline, multi_kline, price')
    .argument('[params...]', 'what the topic takes, as in the examples')
    .option('-k, --key <key>', 'API key (DEXTAPE_API_KEY)')
    .option('-u, --url <url>', 'WebSocket address (this machine)')
    .option('-n, --count <pushes>', 'stop after so many')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  dextape listen --key $KEY tx PAIR eth',
        '  dextape listen --key $KEY multi_tx TOKEN eth',
        '  dextape listen --key $KEY kline PAIR k1 eth',
        '  dextape listen --key $KEY multi_kline PAIR,k1,eth PAIR,k15,bsc',
        '  dextape listen --key $KEY price TOKEN-eth PAIR-bsc',
      ].join('\n'),
    )
    .action(async (topic: string, params: string[], _options: unknown, command: Command) => {
      const { listen } = await import('./listen.js')
      exitWith(await listen(world, topic, params, command.optsWithGlobals()))
    })

  program
    .command('decode')
    .description("a node's receipts, logs or transactions on stdin as events on stdout, one JSON line each")
    .requiredOption('--chain <chain>', 'the chain they are of')
    .option('--pools <file>', 'token and pool events as JSON lines (or a recording), for what a node would tell')
    .addHelpText(
      'after',
      [
        '\nInput: receipts or eth_getLogs output; a list, an object, one a line, or whole JSON-RPC answers.',
        'The wallet of an event is who signed the transaction, which receipts tell; logs alone do not, so there it is',
        "the log's sender. Pools that neither the input creates nor the file describes are left out and counted on stderr.",
        '\nExample:',
        '  dextape decode --chain eth --pools pools.jsonl < receipts.json',
        'On Solana: getTransaction or getBlock output in any encoding.',
        '  dextape decode --chain solana < blocks.jsonl',
      ].join('\n'),
    )
    .action(
      act<{ chain: string; pools?: string }>(async (options) =>
        (await import('./decode/decode.js')).decode(world, options),
      ),
    )

  program
    .command('simulate')
    .description('Write a simulated market to a recording, to play with `up --events`')
    .option('-o, --out <file>', 'write to this file (compressed if it ends in .gz) instead of stdout')
    .option('--seed <number>', 'seed of the market: the same seed and end give the same recording')
    .option('--hours <count>', 'chain time to cover, 0.1 to 720', '24')
    .option('--end <time>', 'chain time of the end: 2024-01-05T12:00 (UTC) or @epoch-seconds (default: now)')
    .option('-z, --gzip', 'compress')
    .addHelpText(
      'after',
      [
        '\nEvery line carries the seed, so a simulated recording never passes for real data.',
        '\nExamples:',
        '  dextape simulate --out day.jsonl.gz',
        '  dextape up --events day.jsonl.gz',
      ].join('\n'),
    )
    .action(
      act<{ out?: string; seed?: string; hours: string; end?: string; gzip?: boolean }>(async (options) =>
        (await import('./topics/simulate.js')).simulate(world, options),
      ),
    )

  addTopics(program, world, act)
  addDead(program, world, act)
  addKeys(program, world, act)

  program
    .command('migrate')
    .description("bring the store's tables to this version (up does it too)")
    .action(act(async (options) => (await import('./migrate.js')).migrate(world, options)))

  addChainOptions(
    program
      .command('doctor')
      .description(
        'check what a start needs: parts, ports, permissions, configuration, nodes and what a scope asks of them',
      ),
    [],
  )
    .addHelpText(
      'after',
      `${CHAIN_HELP}\n\nExamples:\n  dextape doctor\n  dextape doctor --chain base --rpc https://node.example --pool 0x…`,
    )
    .action(act<ChainOptions>(async (options) => (await import('./doctor/doctor.js')).doctor(world, options)))

  return program
}

function addTopics(program: Command, world: World, act: Act): void {
  const topics = program.command('topics').description('look at, save and load what is on the log')
  const topicHelp = 'a topic (dex.blocks.eth), or a chain for its blocks (eth)'
  topics
    .command('ls')
    .description('every topic with its offsets, size and newest time')
    .option('--json', 'JSON lines')
    .action(act<{ json?: boolean }>(async (options) => (await import('./topics/topics.js')).listTopics(world, options)))
  topics
    .command('tail')
    .description('the last records of a topic as JSON lines')
    .argument('<topic>', topicHelp)
    .option('-n, --lines <count>', 'how many', '10')
    .option('-f, --follow', 'wait for more')
    .action(
      act<{ lines: string; follow?: boolean }>(async (options, topic) =>
        (await import('./topics/topics.js')).tailTopic(world, topic ?? '', options),
      ),
    )
  topics
    .command('export')
    .description('a topic as a recording: JSON lines, one record a line')
    .argument('<topic>', topicHelp)
    .option('--from <when>', 'first offset, or time: 2024-01-05T12:00 (UTC) or @epoch-seconds')
    .option('--to <when>', 'offset or time to stop before')
    .option('-o, --out <file>', 'write to this file (compressed if it ends in .gz) instead of stdout')
    .option('-z, --gzip', 'compress')
    .addHelpText(
      'after',
      '\nExample:\n  dextape topics export eth --from 2024-01-05 --to 2024-01-06 --out day.jsonl.gz',
    )
    .action(
      act<{ from?: string; to?: string; out?: string; gzip?: boolean }>(async (options, topic) =>
        (await import('./topics/export.js')).exportTopic(world, topic ?? '', options),
      ),
    )
  topics
    .command('import')
    .description('a recording onto the log, checked line by line; goes on where it stopped')
    .argument('<file>', 'JSON lines, plain or gzip; - for stdin')
    .addHelpText('after', '\nExample:\n  zcat day.jsonl.gz | dextape topics import -')
    .action(
      act(async (options, file) => (await import('./topics/import.js')).importRecording(world, file ?? '', options)),
    )
}

function addDead(program: Command, world: World, act: Act): void {
  const dead = program.command('dead').description('what could not be used, with the reason and its raw form')
  dead
    .command('ls')
    .description('dead letters by chain and reason')
    .argument('[chain]', 'only this chain, or "unknown" for lines that named none')
    .option('-n, --letters <count>', 'the last letters instead, one a line')
    .option('--json', 'JSON lines')
    .action(
      act<{ letters?: string; json?: boolean }>(async (options, chain) =>
        (await import('./dead.js')).listDead(world, chain, options),
      ),
    )
  dead
    .command('show')
    .description('one letter in full')
    .argument('<chain>', 'chain, or "unknown"')
    .argument('<offset>', 'its offset, as in `dead ls --letters 10`')
    .option('--raw', 'only its raw bytes')
    .action(
      act<{ raw?: boolean }>(async (options, chain, offset) =>
        (await import('./dead.js')).showDead(world, chain ?? '', offset ?? '', options),
      ),
    )
}

function addKeys(program: Command, world: World, act: Act): void {
  const keys = program.command('keys').description('API keys: stored as hashes, shown once')
  keys
    .command('create')
    .description('make a key and print it, this once')
    .requiredOption('--name <name>', 'what or whom it is for')
    .addOption(new Option('--plan <plan>', Object.keys(PLANS).join(', ')).default('unlimited'))
    .option('--expires <when>', 'a date (2027-01-31) or a span (30d, 12h)')
    .option('--quota <cu>', 'CU a month')
    .option('--rate <count>', 'requests a second')
    .option('--json', 'with its id, as JSON')
    .action(
      act<{ name: string; plan: string }>(async (options) => (await import('./keys.js')).createKey(world, options)),
    )
  keys
    .command('ls')
    .description('every key with its plan and state')
    .option('--json', 'JSON lines')
    .action(act<{ json?: boolean }>(async (options) => (await import('./keys.js')).listKeys(world, options)))
  keys
    .command('revoke')
    .description('a key stops working, also in a running up')
    .argument('<id>', 'id or name, as in `keys ls`')
    .action(act(async (options, id) => (await import('./keys.js')).revokeKey(world, id ?? '', options)))
}

function helpTail(): string {
  const variables = Object.entries(ENVIRONMENT).map(([name, use]) => `  ${name.padEnd(22)} ${use}`)
  return [
    '\nExamples:',
    '  dextape up --events recording.jsonl.gz',
    '  dextape topics tail eth -n 3',
    '  dextape dead ls',
    '  dextape keys create --name my-bot --plan pro',
    '\nEnvironment:',
    ...variables,
    `\nExit codes: ${EXIT.ok} done, ${EXIT.failed} failed, ${EXIT.usage} unknown command or option, ${EXIT.config} configuration.`,
  ].join('\n')
}

/** The exit code of one invocation. Commander has already printed what was wrong with its usage. */
export async function runCli(world: World, args: readonly string[]): Promise<number> {
  let code: number = EXIT.ok
  const program = buildProgram(world, (given) => {
    code = given
  })
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  }
  return code
}
