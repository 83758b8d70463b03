/**
 * A process that appends numbered batches to a log and prints which were acknowledged, for tests that kill it or run
 * several. Usage: node log-writer.js '{"at","topic","writer","batches","seed","inFlight"}'
 */
import { writeSync } from 'node:fs'
import { openEmbeddedLog } from '../../services/core/log/embedded-log.js'
import { openTestLog } from './kafka/open-log.js'
import { createRandom } from './market/random.js'

export type WriterTask = {
  /** Batches are atomic where the log supports it: on Kafka, up to the size of a message set. */
  at: { path: string } | { brokers: string; prefix: string; paddingBytes: number }
  topic: string
  writer: string
  batches: number
  seed: number
  inFlight: number
}

/** A record names its batch and the batch's size, so that a reader can detect an incomplete batch. */
export type WrittenValue = { writer: string; batch: number; index: number; size: number; padding: string }

async function main(task: WriterTask): Promise<void> {
  const { at } = task
  const log = 'path' in at ? openEmbeddedLog(at) : openTestLog(at.brokers, at.prefix)
  const paddingBytes = 'path' in at ? 100_000 : at.paddingBytes
  const random = createRandom(task.seed).next
  writeSync(1, 'ready\n')
  let pending: Promise<void>[] = []
  for (let batch = 0; batch < task.batches; batch++) {
    const size = 1 + Math.floor(random() * 20)
    const entries = Array.from({ length: size }, (_, index) => {
      const padding = 'x'.repeat(Math.floor(random() ** 4 * paddingBytes))
      const value: WrittenValue = { writer: task.writer, batch, index, size, padding }
      return { key: task.writer, value: Buffer.from(JSON.stringify(value)), timestampMs: batch }
    })
    pending.push(
      log.append(task.topic, entries).then((offset) => {
        writeSync(1, `ack ${batch} ${offset} ${size}\n`)
      }),
    )
    if (pending.length < task.inFlight) continue
    await Promise.all(pending)
    pending = []
  }
  await Promise.all(pending)
  await log.close()
  writeSync(1, 'done\n')
}

const [, script, argument] = process.argv
if (script?.endsWith('log-writer.js') && argument !== undefined) await main(JSON.parse(argument) as WriterTask)
