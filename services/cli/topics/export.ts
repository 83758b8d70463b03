/** `dextape topics export`: a topic as a recording, up to the end the topic had when the export began. */
import type { Config } from '../../core/config/index.js'
import { sharedOrigin } from '../../core/coordination/cluster-origin.js'
import { claimOf } from '../../core/data-dir/origin.js'
import { createAssembler } from '../../core/log/parts.js'
import { blocksOf, type EventLog } from '../../core/log/port.js'
import type { OpenLog } from '../../core/log/topic-records.js'
import { SEED_FIELD } from '../../ingest/validate/read-line.js'
import { configOfExistingData, existingDir, type GlobalOptions, loggerOf, progressOf, type World } from '../context.js'
import { requireTopic, withLog } from '../open-data.js'
import { parseWhen, type When } from '../option-values.js'
import { recordJson } from './record-json.js'
import { type Target, writeLines } from './write-lines.js'

export type ExportOptions = GlobalOptions & Target & { from?: string; to?: string }

export async function exportTopic(world: World, name: string, options: ExportOptions): Promise<void> {
  const from = options.from === undefined ? undefined : parseWhen('--from', options.from)
  const to = options.to === undefined ? undefined : parseWhen('--to', options.to)
  const config = configOfExistingData(world, options)
  await withLog(
    config,
    () => existingDir(config),
    async (open) => {
      const topic = await requireTopic(open.log, name)
      const { start, end } = await open.log.info(topic)
      const first = from === undefined ? start : Math.max(start, await offsetAt(open.log, topic, from))
      const stop = to === undefined ? end : Math.min(end, await offsetAt(open.log, topic, to))
      const mark = blocksOf(topic) === undefined ? {} : await markOf(config, open)
      const progress = progressOf(world, loggerOf(world, config), {
        ...{ message: 'exporting', unit: 'records', fields: { topic } },
      })
      // The lines themselves show progress on a terminal.
      const isShown = options.out !== undefined || world.stdout.isTTY !== true
      const onOffset = (offset: number) => isShown && progress.report(offset - first, stop - first)
      const lines = recordingLines(open, topic, { first, stop }, mark, onOffset)
      await writeLines(world, lines, options).finally(progress.end)
    },
  )
}

async function offsetAt(log: EventLog, topic: string, when: When): Promise<number> {
  return when.kind === 'offset' ? when.offset : await log.offsetAt(topic, when.ms)
}

/** The seed every line of a simulated market carries, so that it is never imported as real data. */
async function markOf(config: Config, { log }: OpenLog): Promise<Record<string, number>> {
  const claim = config.log.kind === 'kafka' ? await sharedOrigin(log) : claimOf(config.dataDir)
  return claim?.origin === 'simulated' ? { [SEED_FIELD]: claim.seed } : {}
}

async function* recordingLines(
  { log, codec }: OpenLog,
  topic: string,
  { first, stop }: { first: number; stop: number },
  mark: Record<string, number>,
  onOffset: (offset: number) => void,
) {
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
      if (whole !== undefined) yield `${recordJson(whole.record, mark)}\n`
    }
    from = last.offset + 1
    onOffset(Math.min(from, stop))
  }
}
