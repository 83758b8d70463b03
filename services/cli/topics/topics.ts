/** `dextape topics ls` and `tail`. Both work beside a running `up`. */
import { nearestName } from '../../core/config/index.js'
import { DextapeError } from '../../core/domain/errors.js'
import type { Codec } from '../../core/log/codec.js'
import type { EventLog, LogRecord } from '../../core/log/port.js'
import { silentLogger } from '../../core/runtime/logger.js'
import { formatTime } from '../../core/runtime/output.js'
import { createShutdown } from '../../core/runtime/shutdown.js'
import { configBeside, existingDir, type GlobalOptions, type World } from '../context.js'
import { topicNamed, withLog } from '../open-log.js'
import { wholeNumber } from '../read-number.js'
import { internalJson, isAvro, recordJson } from './record-json.js'

export async function listTopics(world: World, options: GlobalOptions & { json?: boolean }): Promise<void> {
  const config = configBeside(world, options)
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

export type TailOptions = GlobalOptions & { lines: string; follow?: boolean }

export async function tailTopic(world: World, name: string, options: TailOptions): Promise<void> {
  const count = wholeNumber('--lines', options.lines, { digits: 9 })
  const config = configBeside(world, options)
  await withLog(
    config,
    () => existingDir(config),
    async ({ log, codec }) => {
      const topic = await existingTopic(log, await topicNamed(log, name))
      const { start, end } = await log.info(topic)
      let next = Math.max(start, end - count)
      while (next < end) next = await print(world, codec, topic, await log.read(topic, { from: next }), end)
      if (!options.follow) return
      const shutdown = createShutdown(silentLogger)
      for await (const records of log.follow(topic, { from: end }, shutdown.signal))
        await print(world, codec, topic, records, Number.POSITIVE_INFINITY)
      shutdown.done()
    },
  )
}

async function print(
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

/** A topic that is not there is most often mistyped. */
export async function existingTopic(log: EventLog, topic: string): Promise<string> {
  const known = (await log.topics()).map((info) => info.topic)
  if (known.includes(topic)) return topic
  const nearest = nearestName(topic, known)
  throw new DextapeError({
    code: 'topic_unknown',
    what: `There is no topic ${topic}`,
    fix: nearest === undefined ? 'See `dextape topics ls`.' : `Did you mean ${nearest}? See \`dextape topics ls\`.`,
  })
}
