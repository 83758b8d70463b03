/** The commands that run services: `up` runs all in one process; `ingest`, `aggregate` and `serve` run one each. */
import { type Command, Option } from 'commander'
import { Seed, SwapsPerS } from '../core/config/file-schema.js'
import type { Config } from '../core/config/index.js'
import { parseSpeed } from '../ingest/sources/recording/recording.js'
import type { RequestedSource, RunUp } from '../processes/process-options.js'
import { addChainOptions, CHAIN_HELP, type ChainOptions, chainSections, selectSources } from './chain-options.js'
import { type Cli, configOf, type GlobalOptions, loggerOf, type World } from './context.js'
import { parseNumber } from './option-values.js'

type SourceOptions = GlobalOptions &
  ChainOptions & {
    events?: string
    speed: string
    simulate?: boolean
    rate?: string
    seed?: string
  }

const CLUSTER_HELP =
  '\nProcesses of a cluster share Kafka and ClickHouse: set KAFKA_BROKERS and CLICKHOUSE_URL. See docs/cluster.md.'

export function addServices({ program, world, act }: Cli): void {
  const up = program.command('up').description('Run everything in one process: ingest, aggregate and serve')
  addSourceOptions(up)
    .addHelpText(
      'after',
      [
        CHAIN_HELP,
        '\nWithout a source, `up` plays a simulated market. Simulated data is stored in .dextape-simulated by default and',
        'never mixes with real data. When a recording ends, `up` keeps serving.',
        '\nExamples:',
        '  dextape up',
        '  dextape up --rate 500 --seed 7',
        '  dextape up --events day.jsonl.gz --speed 10',
        '  dextape up --chain base --rpc https://node.example --pool 0x…',
        '  dextape up --chain eth --rpc https://a.example wss://b.example --amm uniswapv2 uniswapv3 --start 2024-01-05',
      ].join('\n'),
    )
    .action(
      act<SourceOptions>(async (options) => {
        const { runUp } = await import('../processes/up.js')
        return runUp(readSourceOptions(world, options, 'serve'))
      }),
    )

  const ingest = program.command('ingest').description('Run ingest alone: read a source into the log of a cluster')
  addSourceOptions(ingest)
    .addHelpText(
      'after',
      [
        '\nRun one ingest per source: a second one takes over from the first. It exits when a recording ends.',
        'It serves /health, /ready, /status and /metrics on port 8082.',
        CHAIN_HELP,
        CLUSTER_HELP,
        '\nExample:\n  KAFKA_BROKERS=localhost:9092 dextape ingest --events day.jsonl.gz',
      ].join('\n'),
    )
    .action(
      act<SourceOptions>(async (options) => {
        const { runIngest } = await import('../processes/ingest.js')
        return runIngest(readSourceOptions(world, options, 'ingest'))
      }),
    )

  program
    .command('aggregate')
    .description('Run aggregate alone: fold blocks into candles, prices and statistics')
    .addHelpText(
      'after',
      [
        '\nRun as many as you need: they divide the chains between them, and when one stops the others take over.',
        'Each serves /health, /ready, /status and /metrics on port 8083.',
        CLUSTER_HELP,
      ].join('\n'),
    )
    .action(
      act(async (options) => {
        const config = configOf(world, options, { service: 'aggregate' })
        const { runAggregate } = await import('../processes/aggregate.js')
        return runAggregate({ config, logger: loggerOf(world, config), out: world.out })
      }),
    )

  program
    .command('serve')
    .description('Run serve alone: answer REST requests and push over WebSocket')
    .addHelpText('after', `\nRun as many as you need behind a load balancer: all nodes are equal.\n${CLUSTER_HELP}`)
    .action(
      act(async (options) => {
        const config = configOf(world, options)
        const { runServe } = await import('../processes/serve.js')
        return runServe({ config, logger: loggerOf(world, config), out: world.out })
      }),
    )
}

function addSourceOptions(command: Command): Command {
  addChainOptions(command, ['events', 'simulate', 'rate', 'seed'])
  return command
    .option('-e, --events <file>', 'Play a recording (JSON lines, plain or gzip); resumes where it stopped')
    .option('-s, --speed <factor>', 'Speed of a recording against the clock: max, 1, 10, 0.5', 'max')
    .addOption(new Option('--simulate', 'Play a simulated market (default without another source)').conflicts('events'))
    .addOption(new Option('--rate <swaps>', 'Swaps per second of the simulated market, 1 to 50000').conflicts('events'))
    .addOption(new Option('--seed <number>', 'Seed of the simulated market').conflicts('events'))
}

function readSourceOptions(world: World, given: SourceOptions, service: 'serve' | 'ingest'): Parameters<RunUp>[0] {
  const chains = chainSections(given)
  const readConfig = () => configOf(world, given, { service, chains })
  const config = readConfig()
  const { rate, seed, chain } = given
  const simulator = {
    ...config.simulator,
    ...(rate === undefined ? {} : { swapsPerS: parseNumber('--rate', rate, SwapsPerS) }),
    ...(seed === undefined ? {} : { seed: parseNumber('--seed', seed, Seed) }),
  }
  return {
    config: { ...config, simulator },
    source: requestedSource(config, given),
    readAgain: () => {
      const again = readConfig()
      // The last chain may be removed, too.
      const sources = [...again.sources.values()].filter((source) => chain === undefined || source.chain === chain)
      return { config: { ...again, simulator }, sources }
    },
    speed: parseSpeed(given.speed),
    logger: loggerOf(world, config),
    out: world.out,
  }
}

function requestedSource(config: Config, { events, simulate, rate, seed, chain }: SourceOptions): RequestedSource {
  if (events !== undefined) return { kind: 'recording', file: events }
  const wantsSimulation = simulate === true || rate !== undefined || seed !== undefined
  const sources = wantsSimulation ? [] : selectSources(config, chain)
  return sources.length > 0 ? { kind: 'chains', sources } : { kind: 'open', wantsSimulation }
}
