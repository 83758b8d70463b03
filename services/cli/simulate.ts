/** `dextape simulate`: writes a simulated market to a recording. Needs no data directory. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Seed } from '../core/config/file-schema.js'
import { chainFacts } from '../core/config/index.js'
import type { SourceRecord } from '../ingest/source.js'
import { SEED_FIELD } from '../ingest/validate/read-line.js'
import { type Cli, configOf, type GlobalOptions, loggerOf, progressOf, type World } from './context.js'
import { parseNumber, parseTime } from './option-values.js'
import { recordJson } from './topics/record-json.js'
import { type Target, writeLines } from './topics/write-lines.js'

type SimulateOptions = GlobalOptions & Target & { seed?: string; hours: string; swaps?: string; end?: string }

const Hours = Type.Number({ minimum: 0.1, maximum: 720 })
const Swaps = Type.Integer({ minimum: 2000, maximum: 10_000_000 })

export function addSimulate({ program, world, act }: Cli): void {
  program
    .command('simulate')
    .description('Write a simulated market to a recording, to play with `up --events`')
    .option('-o, --out <file>', 'Write to this file instead of stdout; compressed if it ends in .gz')
    .option('--seed <number>', 'Seed: the same seed and end give the same recording')
    .option('--hours <count>', 'Hours of chain time, 0.1 to 720', '24')
    .option('--swaps <count>', 'About how many swaps, 2000 to 10000000 (default: 30000)')
    .option('--end <time>', 'End in chain time: 2024-01-05T12:00 (UTC) or @epoch-seconds (default: now)')
    .option('-z, --gzip', 'Compress the output')
    .addHelpText(
      'after',
      [
        '\nEvery line carries the seed, so a simulated recording is never imported as real data.',
        '\nExamples:',
        '  dextape simulate --out day.jsonl.gz',
        '  dextape up --events day.jsonl.gz',
      ].join('\n'),
    )
    .action(act<SimulateOptions>((options) => simulate(world, options)))
}

async function simulate(world: World, options: SimulateOptions): Promise<void> {
  const config = configOf(world, options)
  const seed = options.seed === undefined ? config.simulator.seed : parseNumber('--seed', options.seed, Seed)
  const historyS = Math.round(parseNumber('--hours', options.hours, Hours) * 3600)
  const historySwaps = options.swaps === undefined ? undefined : parseNumber('--swaps', options.swaps, Swaps)
  const endMs = options.end === undefined ? world.nowMs() : parseTime('--end', options.end)
  const counts = { blocks: 0, retracts: 0, events: 0 }
  const { openSimulator } = await import('../ingest/sources/simulator/simulator.js')
  const { SIMULATED_CHAINS } = await import('../processes/chain-sources/open-source.js')
  const progress = progressOf(world, loggerOf(world, config), { message: 'simulating', unit: 'seconds' })
  const source = openSimulator({
    ...{ seed, historyS, ...(historySwaps === undefined ? {} : { historySwaps }) },
    // The requested number per second, however short the time.
    swapsPerS: Math.max(config.simulator.swapsPerS, (2 * (historySwaps ?? 0)) / historyS),
    chains: SIMULATED_CHAINS.map((chain) => chainFacts(config, chain)),
    snapshots: { load: async () => undefined, save: async () => {} },
    // The file is written in one pass: there is nothing to resume.
    snapshotEvery: Number.POSITIVE_INFINITY,
    nowMs: () => endMs,
    sleep: async () => {},
    onHistory: (done) => progress.report(Math.round(done * historyS), historyS),
  })
  const stop = new AbortController()
  async function* lines(): AsyncGenerator<string> {
    for await (const item of source.items(undefined, stop.signal)) {
      // The simulator has reached the end and would now wait for the clock.
      if (item.kind === 'idle') return
      if (item.kind === 'record') yield `${lineOf(item.record, seed, counts)}\n`
    }
  }
  await writeLines(world, lines(), options).finally(progress.end)
  if (options.out === undefined) return
  const { size } = statSync(resolve(world.cwd, options.out))
  const { blocks, retracts, events } = counts
  await world.out.line(`${options.out}: ${blocks} blocks, ${retracts} retracts, ${events} events, ${size} bytes`)
}

function lineOf(
  record: SourceRecord,
  seed: number,
  counts: { blocks: number; retracts: number; events: number },
): string {
  const mark = { [SEED_FIELD]: seed }
  if (record.kind === 'retract') {
    counts.retracts += 1
    return recordJson(record, mark)
  }
  counts.blocks += 1
  counts.events += record.block.events.length
  return recordJson(record, mark)
}
