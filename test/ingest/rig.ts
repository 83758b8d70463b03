import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Codec, createCodec } from '../../services/core/log/codec.js'
import { blocksTopic, deadTopic, type EventLog } from '../../services/core/log/port.js'
import type { SchemaRegistry } from '../../services/core/log/registry.js'
import { createBackoff } from '../../services/core/runtime/backoff.js'
import { silentLogger } from '../../services/core/runtime/logger.js'
import { type Checkpoints, memoryCheckpoints } from '../../services/ingest/checkpoints.js'
import { createIngest, type Ingest, type IngestDeps } from '../../services/ingest/main.js'
import type { Source } from '../../services/ingest/source.js'
import { openRecording, type RecordingOptions } from '../../services/ingest/sources/recording/recording.js'
import { family } from './samples.js'

export const folder = (): string => mkdtempSync(join(tmpdir(), 'dextape-ingest-'))

export const jsonLines = (...values: unknown[]): string =>
  values.map((value) => `${typeof value === 'string' ? value : JSON.stringify(value)}\n`).join('')

export function writeRecording(text: string | Buffer, { gzip = false, path = join(folder(), 'r.jsonl') } = {}): string {
  writeFileSync(path, gzip ? gzipSync(text) : text)
  return path
}

export function testCodec(): Codec {
  const schemas: Parameters<SchemaRegistry['idFor']>[1][] = []
  return createCodec({
    idFor(_subject, schema) {
      const known = schemas.findIndex(({ name }) => name === schema.name)
      return known === -1 ? schemas.push(schema) : known + 1
    },
    schemaFor: (id) => schemas[id - 1],
  })
}

export const options = (over: Partial<RecordingOptions> = {}): RecordingOptions => ({
  family,
  logger: silentLogger,
  ...over,
})

export type Rig = { log: EventLog; codec: Codec; checkpoints: Checkpoints }

export const ingestOf = <Position>(
  rig: Rig,
  source: Source<Position>,
  more: Pick<IngestDeps<Position>, 'health'> = {},
): Ingest =>
  createIngest({
    ...rig,
    ...more,
    source,
    logger: silentLogger,
    progressMs: 1000,
    backoff: createBackoff({ sleep: async () => {} }),
  })

export async function playFile(rig: Rig, path: string, signal = new AbortController().signal): Promise<Ingest> {
  const ingest = ingestOf(rig, await openRecording(path, options()))
  await ingest.run(signal)
  return ingest
}

/** `100` a block, `-100→98` a retract. */
export async function published({ log, codec }: Rig, chain = 'eth'): Promise<string[]> {
  const records = await log.read(blocksTopic(chain), { from: 0 })
  return records.map(({ value }) => {
    const record = codec.decodeLogRecord(value)
    if (record.kind === 'block') return `${record.block.number}`
    return record.kind === 'retract' ? `-${record.retract.from_number}→${record.retract.to_number}` : record.kind
  })
}

/** `reason source` of each dead letter. */
export async function buried({ log, codec }: Rig, chain = 'eth'): Promise<string[]> {
  const records = await log.read(deadTopic(chain), { from: 0 })
  return records.map(({ value }) => {
    const record = codec.decodeLogRecord(value)
    return record.kind === 'dead' ? `${record.dead.reason} ${record.dead.source}` : record.kind
  })
}

export const newRig = (log: EventLog): Rig => ({ log, codec: testCodec(), checkpoints: memoryCheckpoints() })
