/** A source that writes to an embedded log. It can be stopped, killed and restarted; log, checkpoints and book persist. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DeadLetter } from '../../services/core/domain/records.js'
import { openEmbeddedLog } from '../../services/core/log/embedded-log.js'
import { blocksTopic, deadTopic, type EventLog } from '../../services/core/log/port.js'
import { createBackoff } from '../../services/core/runtime/backoff.js'
import { silentLogger } from '../../services/core/runtime/logger.js'
import { memoryCheckpoints } from '../../services/ingest/checkpoints.js'
import { createIngest, type IngestOutcome } from '../../services/ingest/main.js'
import type { Source } from '../../services/ingest/source.js'
import { testCodec } from '../ingest/rig.js'
import type { RecordingLine } from './reference/lines.js'

export type PlaceRun = {
  readonly ended: Promise<IngestOutcome>
  /** Stops it cleanly. */
  stop(): Promise<IngestOutcome>
}

/** The state that outlives a process. */
export type Place<Options> = {
  readonly log: EventLog
  /** `through`: wraps the log that the ingest writes to. */
  start(options: Options & { through?: (log: EventLog) => EventLog }): Promise<PlaceRun>
  lines(): Promise<RecordingLine[]>
  deadLetters(): Promise<DeadLetter[]>
  /** Waits until the block is the last in the log. */
  reached(hash: string, withinMs: number): Promise<boolean>
  close(): Promise<void>
}

export type PlaceParts<Options> = {
  chain: string
  openSource(options: Options, bookPath: string, signal: AbortSignal): Promise<Source>
}

const POLL_MS = 5

export function openPlace<Options>({ chain, openSource }: PlaceParts<Options>): Place<Options> {
  const folder = mkdtempSync(join(tmpdir(), `dextape-${chain}-`))
  const log = openEmbeddedLog({ path: join(folder, 'log') })
  const codec = testCodec()
  const checkpoints = memoryCheckpoints()

  async function recordsOf(topic: string) {
    const records = []
    const { end } = await log.info(topic)
    for (let from = 0; from < end; ) {
      const read = await log.read(topic, { from, maxRecords: 1000 })
      records.push(...read.map(({ value }) => codec.decodeLogRecord(value)))
      from += Math.max(1, read.length)
    }
    return records
  }

  return {
    log,
    async lines() {
      const records = await recordsOf(blocksTopic(chain))
      return records.flatMap((record): RecordingLine[] => {
        if (record.kind === 'retract') return [{ kind: 'retract', ...record.retract }]
        return record.kind === 'block' ? [{ kind: 'block', ...record.block }] : []
      })
    },
    async deadLetters() {
      const records = await recordsOf(deadTopic(chain))
      return records.flatMap((record) => (record.kind === 'dead' ? [record.dead] : []))
    },
    async start({ through = (own) => own, ...options }) {
      const stopping = new AbortController()
      const { signal } = stopping
      const source = await openSource(options as Options, join(folder, 'book'), signal)
      const ingest = createIngest({
        ...{ source, chain, log: through(log), codec, checkpoints, logger: silentLogger, progressMs: 60_000 },
        backoff: createBackoff({ maxMs: 50 }),
      })
      const ended = ingest.run(signal)
      return {
        ended,
        async stop() {
          stopping.abort()
          return ended
        },
      }
    },
    async reached(hash, withinMs) {
      const deadline = Date.now() + withinMs
      const topic = blocksTopic(chain)
      for (let looked = 0; ; ) {
        const { end } = await log.info(topic)
        // Decodes only new records, because a benchmark also waits here.
        const [last] = end === looked ? [] : await log.read(topic, { from: end - 1, maxRecords: 1 })
        looked = end
        const record = last === undefined ? undefined : codec.decodeLogRecord(last.value)
        if (record?.kind === 'block' && record.block.hash === hash) return true
        if (Date.now() > deadline) return false
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      }
    },
    async close() {
      await log.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
