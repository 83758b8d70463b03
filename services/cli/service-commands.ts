/** The commands that run services: `up`, and the same as processes of their own. */
import { type Command, Option } from 'commander'
import { Seed, SwapsPerS } from '../core/config/file-schema.js'
import type { Config } from '../core/config/index.js'
import { parseSpeed } from '../ingest/sources/recording/recording.js'
import type { AskedSource, RunUp } from '../processes/process-options.js'
import type { Act } from './act.js'
import type { BackfillOptions } from './backfill/backfill.js'
import {
  addChainOptions,
  addNodeOptions,
  CHAIN_HELP,
  type ChainOptions,
  chainSections,
  sourcesAsked,
} from './chain-options.js'
import { configOf, type GlobalOptions, loggerOf, type World } from './context.js'
import { readNumber } from './read-number.js'

type SourceOptions = GlobalOptions &
  ChainOptions & {
    events?: string
    speed: string
    simulate?: boolean
    rate?: string
    seed?: string
  }

function addSourceOptions(command: Command): Command {
  addChainOptions(command, ['events', 'simulate', 'rate', 'seed'])
  return command
    .option('-e, --events <file>', 'play this recording (JSON lines, plain or gzip), go on where it stopped')
    .option('-s, --speed <factor>', 'max, or chain time against the clock: 1, 10, 0.5', 'max')
    .addOption(
      new Option('--simulate', 'play a simulated market; the default where no other source is given').conflicts(
        'events',
      ),
    )
    .addOption(new Option('--rate <swaps>', 'swaps a second of the simulated market, 1 to 50000').conflicts('events'))
    .addOption(new Option('--seed <number>', 'another seed, another market').conflicts('events'))
}

/** What a command that reads a source is handed. */
function sourceOf(world: World, given: SourceOptions, service: 'serve' | 'ingest'): Parameters<RunUp>[0] {
  const config = configOf(world, given, { service, chains: chainSections(given) })
  const { rate, seed } = given
  const simulator = {
    ...config.simulator,
    ...(rate === undefined ? {} : { swapsPerS: readNumber('--rate', rate, SwapsPerS) }),
    ...(seed === undefined ? {} : { seed: readNumber('--seed', seed, Seed) }),
  }
  return {
    config: { ...config, simulator },
    source: askedSource(config, given),
    speed: parseSpeed(given.speed),
    logger: loggerOf(world, config),
    out: world.out,
  }
}

function askedSource(config: Config, { events, simulate, rate, seed, chain }: SourceOptions): AskedSource {
  if (events !== undefined) return { kind: 'recording', file: events }
  const wantsSimulation = simulate === true || rate !== undefined || seed !== undefined
  const sources = wantsSimulation ? [] : sourcesAsked(config, chain)
  return sources.length > 0 ? { kind: 'chains', sources } : { kind: 'open', wantsSimulation }
}

export function addUp(program: Command, world: World, act: Act): void {
  const up = program
    .command('up')
    .description('run everything in one process: ingest, aggregate, serve; keeps serving what a recording gave')
  addSourceOptions(up)
    .addHelpText(
      'after',
      [
        CHAIN_HELP,
        '\nA simulated market keeps its data apart (.dextape-simulated where no directory is named) and never mixes with real data.',
        '\nExamples:\n  dextape up\n  dextape up --rate 500 --seed 7\n  dextape up --events day.jsonl.gz --speed 10\n  dextape up --chain base --rpc https://node.example --pool 0x…\n  dextape up --chain eth --rpc https://a.example wss://b.example --amm uniswapv2 uniswapv3 --start 2024-01-05 --max-rps 25',
      ].join('\n'),
    )
    .action(
      act<SourceOptions>(async (options) => {
        const { runUp } = await import('../processes/up.js')
        return runUp(sourceOf(world, options, 'serve'))
      }),
    )
}

const CLUSTER_NEEDS =
  '\nA cluster meets in Kafka and ClickHouse: set KAFKA_BROKERS and CLICKHOUSE_URL. docs/cluster.md goes through it.'

/** The same services as processes of their own. */
export function addCluster(program: Command, world: World, act: Act): void {
  const ingest = program.command('ingest').description('a source onto the log: one process of a cluster')
  addSourceOptions(ingest)
    .addHelpText(
      'after',
      [
        '\nOne ingest for a source: a second one takes it over. It ends when a recording is played; answers /health, /ready, /status and /metrics on port 8082.',
        CHAIN_HELP,
        CLUSTER_NEEDS,
        '\nExample:\n  KAFKA_BROKERS=localhost:9092 dextape ingest --events day.jsonl.gz',
      ].join('\n'),
    )
    .action(
      act<SourceOptions>(async (options) => {
        const { runIngest } = await import('../processes/ingest.js')
        return runIngest(sourceOf(world, options, 'ingest'))
      }),
    )
  program
    .command('aggregate')
    .description('fold chains into candles, prices and statistics: one process of a cluster')
    .addHelpText(
      'after',
      `\nAs many as wanted: they share the chains, and when one ends the others go on with its own. Answers /health, /ready, /status and /metrics on port 8083.\n${CLUSTER_NEEDS}`,
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
    .description('answer REST requests and push to sockets: one process of a cluster')
    .addHelpText('after', `\nAs many as wanted, all alike, behind any load balancer.\n${CLUSTER_NEEDS}`)
    .action(
      act(async (options) => {
        const config = configOf(world, options)
        const { runServe } = await import('../processes/serve.js')
        return runServe({ config, logger: loggerOf(world, config), out: world.out })
      }),
    )
}

export function addBackfill(program: Command, world: World, act: Act): void {
  const backfill = program
    .command('backfill')
    .description("write a chain's history anew beside the live one, join it at the head, and make it the live one")
    .requiredOption('--chain <chain>', 'whose history')
    .option('--from <when>', "a date (2024-01-05T12:00, UTC) or a block; the live history's first block unless given")
    .addOption(
      new Option('--dead', 'because of dead letters: those of today are forgotten at the end').conflicts('from'),
    )
  addNodeOptions(backfill)
    .addOption(new Option('--abandon', 'drop the unfinished one').conflicts(['from', 'dead']))
    .addOption(
      new Option('--drop-old', 'forget the blocks of generations that are not live').conflicts(['from', 'dead']),
    )
    .addHelpText(
      'after',
      [
        '\nWorks beside a running `up`, or processes of a cluster. Stopped, it goes on where it was when it is started again. Give it the scope that the',
        'chain is read with: what runs goes on from its end.',
        '\nExamples:\n  dextape backfill --chain base --from 2024-01-05\n  dextape backfill --chain base --dead',
      ].join('\n'),
    )
    .action(act<BackfillOptions>(async (options) => (await import('./backfill/backfill.js')).backfill(world, options)))
}
