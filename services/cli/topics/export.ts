/** `dextape topics export`: a topic as a recording. Works beside a running `up`; ends at the end the topic had at the start. */

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { resolve } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { ConfigError } from '../../core/domain/errors.js'
import { createAssembler } from '../../core/log/parts.js'
import type { OpenLog } from '../../core/log/topic-records.js'
import { configBeside, existingDir, type GlobalOptions, type World } from '../context.js'
import { topicNamed, withLog } from '../open-log.js'
import { recordJson } from './record-json.js'
import { existingTopic } from './topics.js'
import { offsetOf, parseWhen } from './when.js'

export type ExportOptions = GlobalOptions & { from?: string; to?: string; out?: string; gzip?: boolean }

export async function exportTopic(world: World, name: string, options: ExportOptions): Promise<void> {
  const from = options.from === undefined ? undefined : parseWhen('--from', options.from)
  const to = options.to === undefined ? undefined : parseWhen('--to', options.to)
  const config = configBeside(world, options)
  await withLog(
    config,
    () => existingDir(config),
    async (open) => {
      const topic = await existingTopic(open.log, await topicNamed(open.log, name))
      const { start, end } = await open.log.info(topic)
      const first = from === undefined ? start : Math.max(start, await offsetOf(open.log, topic, from))
      const stop = to === undefined ? end : Math.min(end, await offsetOf(open.log, topic, to))
      const lines = Readable.from(recordingLines(open, topic, first, stop))
      const target = await openTarget(world, options.out)
      if (options.gzip) await pipeline(lines, createGzip(), target.stream, { end: target.owned })
      else await pipeline(lines, target.stream, { end: target.owned })
    },
  )
}

async function* recordingLines({ log, codec }: OpenLog, topic: string, first: number, stop: number) {
  const assembler = createAssembler()
  let from = first
  let isInside = false
  // A range may end inside a block that was split: a block that began before the end is given whole.
  while (from < stop || isInside) {
    const records = await log.read(topic, { from })
    const last = records.at(-1)
    if (last === undefined) return
    await codec.learn(records.map(({ value }) => value))
    for (const { offset, value } of records) {
      if (offset >= stop && !isInside) return
      const record = codec.decodeLogRecord(value, { topic, offset })
      // It may begin inside one too: that block is not in it.
      if (!isInside && record.kind === 'block' && record.block.part > 0) continue
      const whole = assembler.push(record, offset)
      isInside = whole === undefined
      if (whole !== undefined) yield `${recordJson(whole.record)}\n`
    }
    from = last.offset + 1
  }
}

async function openTarget(world: World, out: string | undefined): Promise<{ stream: Writable; owned: boolean }> {
  if (out === undefined) return { stream: world.stdout, owned: false }
  const stream = createWriteStream(resolve(world.cwd, out))
  try {
    await once(stream, 'open')
  } catch (cause) {
    throw new ConfigError({
      code: 'out_unwritable',
      what: `The file cannot be written: ${(cause as Error).message}`,
      fix: 'Name another with --out.',
      cause,
    })
  }
  return { stream, owned: true }
}
