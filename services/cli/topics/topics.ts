/** `dextape topics`: lists, prints, exports and imports topics of the log. Reading works while `up` runs. */
import type { Codec } from '../../core/log/codec.js'
import type { LogRecord } from '../../core/log/port.js'
import { silentLogger } from '../../core/runtime/logger.js'
import { formatTime } from '../../core/runtime/output.js'
import { createShutdown } from '../../core/runtime/shutdown.js'
import { type Cli, configOfExistingData, existingDir, type GlobalOptions, type World } from '../context.js'
import { requireTopic, withLog } from '../open-data.js'
import { parseWholeNumber } from '../option-values.js'
import type { ExportOptions } from './export.js'
import { internalJson, isAvro, recordJson } from './record-json.js'

const TOPIC_HELP = 'Topic (dex.blocks.eth), or a chain for its blocks (eth)'

export function addTopics({ program, world, act }: Cli): void {
  const topics = program.command('topics').description('Inspect, export and import topics of the log')
  topics
    .command('ls')
    .description('List topics with their offsets, size and newest record')
    .option('--json', 'Print JSON lines')
    .action(act<{ json?: boolean }>((options) => listTopics(world, options)))
  topics
    .command('tail')
    .description('Print the last records of a topic as JSON lines')
    .argument('<topic>', TOPIC_HELP)
    .option('-n, --lines <count>', 'Number of records', '10')
    .option('-f, --follow', 'Keep printing new records')
    .addHelpText('after', '\nExample:\n  dextape topics tail eth -n 3 --follow')
    .action(act<TailOptions>((options, topic = '') => tailTopic(world, topic, options)))
  topics
    .command('export')
    .description('Export a topic as JSON lines (of blocks: a recording) or as an Avro file')
    .argument('<topic>', TOPIC_HELP)
    .option('--from <when>', 'First offset, or a time: 2024-01-05T12:00 (UTC) or @epoch-seconds')
    .option('--to <when>', 'Offset or time to stop before')
    .option('--from-block <number>', 'First block')
    .option('--to-block <number>', 'Block to stop before')
    .option('--format <format>', 'Form of the output: jsonl, or avro for an object container file', 'jsonl')
    .option('-o, --out <file>', 'Write to this file instead of stdout; compressed if it ends in .gz')
    .option('-z, --gzip', 'Compress the output')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  dextape topics export eth --from 2024-01-05 --to 2024-01-06 --out day.jsonl.gz',
        '  dextape topics export dex.updates.eth --from-block 19000000 --to-block 19000100 --format avro --out updates.avro',
      ].join('\n'),
    )
    .action(
      act<ExportOptions>(async (options, topic = '') =>
        (await import('./export.js')).exportTopic(world, topic, options),
      ),
    )
  topics
    .command('import')
    .description('Import a recording into the log; resumes where it stopped')
    .argument('<file>', 'Blocks as JSON lines, plain or gzip, or as an Avro file; - for stdin')
    .addHelpText(
      'after',
      [
        '\nEvery line is validated; invalid lines become dead letters (`dextape dead ls`).',
        'Only blocks can be imported, since everything else is computed from them. A file of updates, trades, dead letters',
        'or an internal topic is refused before anything is written.',
        '\nExamples:\n  dextape topics import day.jsonl.gz\n  zcat day.jsonl.gz | dextape topics import -',
      ].join('\n'),
    )
    .action(act(async (options, file = '') => (await import('./import.js')).importRecording(world, file, options)))
}

async function listTopics(world: World, options: GlobalOptions & { json?: boolean }): Promise<void> {
  const config = configOfExistingData(world, options)
  await withLog(
    config,
    () => existingDir(config),
    async ({ log }) => {
      const names = (await log.topics()).map(({ topic }) => topic).sort()
      const topics = await Promise.all(names.map((topic) => log.info(topic)))
      if (options.json) {
        for (const { topic, start, end, bytes, newestMs } of topics)
          await world.out.json({ topic, start, end, records: end - start, bytes, newest_ms: newestMs })
        return
      }
      await world.out.table(
        ['topic', 'records', 'start', 'end', 'bytes', 'newest'],
        topics.map(({ topic, start, end, bytes, newestMs }) => [
          topic,
          end - start,
          start,
          end,
          bytes,
          formatTime(newestMs),
        ]),
      )
    },
  )
}

type TailOptions = GlobalOptions & { lines: string; follow?: boolean }

async function tailTopic(world: World, name: string, options: TailOptions): Promise<void> {
  const count = parseWholeNumber('--lines', options.lines, { digits: 9 })
  const config = configOfExistingData(world, options)
  await withLog(
    config,
    () => existingDir(config),
    async ({ log, codec }) => {
      const topic = await requireTopic(log, name)
      const { start, end } = await log.info(topic)
      let next = Math.max(start, end - count)
      while (next < end) next = await printRecords(world, codec, topic, await log.read(topic, { from: next }), end)
      if (!options.follow) return
      const shutdown = createShutdown(silentLogger)
      for await (const records of log.follow(topic, { from: end }, shutdown.signal))
        await printRecords(world, codec, topic, records, Number.POSITIVE_INFINITY)
      shutdown.done()
    },
  )
}

async function printRecords(
  world: World,
  codec: Codec,
  topic: string,
  records: readonly LogRecord[],
  end: number,
): Promise<number> {
  await codec.learn(records.map(({ value }) => value))
  for (const { offset, key, value } of records) {
    if (offset >= end) break
    const line = isAvro(value)
      ? recordJson(codec.decodeLogRecord(value, { topic, offset }), { offset })
      : internalJson(value, { offset, key })
    await world.out.line(line)
  }
  return (records.at(-1)?.offset ?? end) + 1
}
