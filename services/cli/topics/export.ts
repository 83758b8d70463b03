/** `dextape topics export`: a topic as JSON lines or an Avro file, up to the end the topic had when the export began. */
import type { Config } from '../../core/config/index.js'
import { sharedOrigin } from '../../core/coordination/cluster-origin.js'
import { claimOf } from '../../core/data-dir/origin.js'
import { ConfigError } from '../../core/domain/errors.js'
import { writeAvroFile } from '../../core/log/avro-file.js'
import type { DecodedRecord } from '../../core/log/codec.js'
import { createAssembler } from '../../core/log/parts.js'
import { blocksOf, type EventLog } from '../../core/log/port.js'
import type { OpenLog } from '../../core/log/topic-records.js'
import { SEED_FIELD } from '../../ingest/validate/read-line.js'
import { configOfExistingData, existingDir, type GlobalOptions, loggerOf, progressOf, type World } from '../context.js'
import { requireTopic, withLog } from '../open-data.js'
import { invalidOption, parseWhen, parseWholeNumber, type When } from '../option-values.js'
import { type BlockRange, blockNumberOf, isInRange, type OffsetRange, offsetsOfBlocks } from './block-range.js'
import { internalJson, isAvro, recordJson } from './record-json.js'
import { type Target, writeLines } from './write-lines.js'

export type ExportOptions = GlobalOptions &
  Target & { from?: string; to?: string; fromBlock?: string; toBlock?: string; format: string }

export async function exportTopic(world: World, name: string, options: ExportOptions): Promise<void> {
  const from = options.from === undefined ? undefined : parseWhen('--from', options.from)
  const to = options.to === undefined ? undefined : parseWhen('--to', options.to)
  const blocks = readBlockRange(options)
  const isAvroFile = readFormat(options) === 'avro'
  const config = configOfExistingData(world, options)
  await withLog(
    config,
    () => existingDir(config),
    async (open) => {
      const topic = await requireTopic(open.log, name)
      const kinds = kindsOf(topic)
      if (kinds === undefined && (isAvroFile || blocks !== undefined)) throw internalTopic(topic, isAvroFile)
      const { start, end } = await open.log.info(topic)
      const range = {
        first: from === undefined ? start : Math.max(start, await offsetAt(open.log, topic, from)),
        stop: to === undefined ? end : Math.min(end, await offsetAt(open.log, topic, to)),
      }
      const isOfBlocks = blocksOf(topic) !== undefined
      const { first, stop } =
        blocks !== undefined && isOfBlocks
          ? await offsetsOfBlocks(open, topic, blocks, range, config.fold.journalBlocks)
          : range
      const mark = isOfBlocks ? await markOf(config, open) : {}
      const progress = progressOf(world, loggerOf(world, config), {
        ...{ message: 'exporting', unit: 'records', fields: { topic } },
      })
      // The lines themselves show progress on a terminal.
      const isShown = options.out !== undefined || world.stdout.isTTY !== true
      const onOffset = (offset: number) => isShown && progress.report(offset - first, stop - first)
      const filter = isOfBlocks ? undefined : blocks
      const content =
        kinds === undefined
          ? internalLines(open, topic, { first, stop }, onOffset)
          : contentOf(wholeRecords(open, topic, { first, stop }, filter, onOffset), kinds, mark, isAvroFile)
      await writeLines(world, content, options).finally(progress.end)
    },
  )
}

function readBlockRange({ fromBlock, toBlock }: ExportOptions): BlockRange | undefined {
  if (fromBlock === undefined && toBlock === undefined) return undefined
  return {
    fromBlock: fromBlock === undefined ? undefined : parseWholeNumber('--from-block', fromBlock),
    toBlock: toBlock === undefined ? undefined : parseWholeNumber('--to-block', toBlock),
  }
}

function readFormat({ format, gzip, out }: ExportOptions): 'jsonl' | 'avro' {
  if (format !== 'jsonl' && format !== 'avro') throw invalidOption('--format', 'jsonl or avro', format)
  // Its blocks are compressed already, and readers of Avro files do not unpack gzip.
  if (format === 'avro' && (gzip === true || out?.endsWith('.gz') === true))
    throw invalidOption('--format', 'jsonl with gzip', format)
  return format
}

type Kinds = readonly DecodedRecord['kind'][]

/** The records of a topic; undefined: an internal topic, which is not an interface. */
function kindsOf(topic: string): Kinds | undefined {
  if (blocksOf(topic) !== undefined) return ['block', 'retract']
  if (topic.startsWith('dex.updates.')) return ['update']
  if (topic.startsWith('dex.trades.')) return ['trade']
  return topic.startsWith('dex.dead.') ? ['dead'] : undefined
}

function internalTopic(topic: string, isAvroFile: boolean): ConfigError {
  return new ConfigError({
    code: 'topic_internal',
    what: `${topic} is an internal topic: its records have no ${isAvroFile ? 'schema' : 'block number'}`,
    fix: 'Export it as JSON lines, by offset or time.',
  })
}

async function* contentOf(
  records: AsyncIterable<DecodedRecord>,
  kinds: Kinds,
  mark: Record<string, number>,
  isAvroFile: boolean,
): AsyncGenerator<string | Buffer> {
  if (isAvroFile) yield* writeAvroFile(records, kinds, mark[SEED_FIELD])
  else for await (const record of records) yield `${recordJson(record, mark)}\n`
}

async function offsetAt(log: EventLog, topic: string, when: When): Promise<number> {
  return when.kind === 'offset' ? when.offset : await log.offsetAt(topic, when.ms)
}

/** The seed every line of a simulated market carries, so that it is never imported as real data. */
async function markOf(config: Config, { log }: OpenLog): Promise<Record<string, number>> {
  const claim = config.log.kind === 'kafka' ? await sharedOrigin(log) : claimOf(config.dataDir)
  return claim?.origin === 'simulated' ? { [SEED_FIELD]: claim.seed } : {}
}

async function* wholeRecords(
  { log, codec }: OpenLog,
  topic: string,
  { first, stop }: OffsetRange,
  filter: BlockRange | undefined,
  onOffset: (offset: number) => void,
): AsyncGenerator<DecodedRecord> {
  const assembler = createAssembler()
  let from = first
  let isInside = false
  // A block of several parts that begins before the end is exported whole.
  while (from < stop || isInside) {
    const records = await log.read(topic, { from })
    const last = records.at(-1)
    if (last === undefined) return
    await codec.learn(records.map(({ value }) => value))
    for (const { offset, value } of records) {
      if (offset >= stop && !isInside) return
      const record = codec.decodeLogRecord(value, { topic, offset })
      // A block that begins before the first offset is not exported.
      if (!isInside && record.kind === 'block' && record.block.part > 0) continue
      const whole = assembler.push(record, offset)
      isInside = whole === undefined
      if (whole === undefined) continue
      if (filter === undefined || isInRange(blockNumberOf(whole.record), filter)) yield whole.record
    }
    from = last.offset + 1
    onOffset(Math.min(from, stop))
  }
}

/** As `topics tail` prints them. */
async function* internalLines(
  { log, codec }: OpenLog,
  topic: string,
  { first, stop }: OffsetRange,
  onOffset: (offset: number) => void,
): AsyncGenerator<string> {
  for (let from = first; from < stop; onOffset(Math.min(from, stop))) {
    const records = await log.read(topic, { from })
    const last = records.at(-1)
    if (last === undefined) return
    from = last.offset + 1
    await codec.learn(records.flatMap(({ value }) => (isAvro(value) ? [value] : [])))
    for (const { offset, key, value } of records) {
      if (offset >= stop) return
      yield `${isAvro(value) ? recordJson(codec.decodeLogRecord(value, { topic, offset })) : internalJson(value, { key })}\n`
    }
  }
}
