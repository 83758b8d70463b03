/**
 * Writes a record of the newest version of each schema to test/fixtures/avro, for versions that have no fixture yet.
 * A fixture is never rewritten: it represents records in existing logs.
 * Usage: node dist/test/rig/log-fixtures.js
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AvroRecord, type AvroType, RECORD_NAMES, repositoryRoot, schemaVersions } from '../../schemas/avro.js'
import { eventTypeOf } from '../../schemas/types-from-avro.js'
import { CANDLE_WIDTH, FIRST_FIGURE } from '../../services/core/domain/packed-candles.js'
import { WINDOWS_LENGTH } from '../../services/core/domain/packed-windows.js'
import type { BlockUpdate } from '../../services/core/domain/records.js'
import { avroTypeOf } from '../../services/core/log/avro-types.js'
import { unpackUpdate } from '../../services/core/log/unpacked-update.js'

type Sampling = { named: Map<string, AvroType>; count: number }

/** A record with a different value in each field, every event type once, and optional fields filled. */
function sample(type: AvroType, state: Sampling): unknown {
  if (typeof type === 'string') {
    const known = state.named.get(type.replace(/^dextape\./, ''))
    return known === undefined ? samplePrimitive(type, ++state.count) : sample(known, state)
  }
  if (Array.isArray(type)) return sample(type.find((branch) => branch !== 'null') ?? 'null', state)
  if ('logicalType' in type) return samplePacked(String(type.logicalType), state)
  switch (type.type) {
    case 'enum':
      state.named.set(type.name, type)
      return type.symbols[state.count++ % type.symbols.length]
    case 'array':
      return Array.isArray(type.items)
        ? type.items.map((branch) => sample(branch, state))
        : [sample(type.items, state), sample(type.items, state)]
    case 'record': {
      state.named.set(type.name, type)
      const fields = type.fields.map((field) => [field.name, sample(field.type, state)] as const)
      const eventType = eventTypeOf(type.name)
      return { ...Object.fromEntries(fields), ...(eventType === undefined ? {} : { type: eventType }) }
    }
  }
}

function samplePacked(form: string, state: Sampling): Float64Array {
  const packed = new Float64Array(form === 'windows' ? WINDOWS_LENGTH : CANDLE_WIDTH)
  // A candle of the first interval, not removed.
  const first = form === 'windows' ? 0 : FIRST_FIGURE
  for (let at = first; at < packed.length; at += 1) packed[at] = ++state.count
  return packed
}

function samplePrimitive(type: string, count: number): unknown {
  switch (type) {
    case 'boolean':
      return count % 2 === 0
    case 'int':
      return count
    case 'long':
      return 1_700_000_000 + count
    case 'float':
    case 'double':
      return count + 0.5
    case 'bytes':
      return Buffer.from([0, 255, count])
    case 'string':
      return `text ${count}`
    default:
      return null
  }
}

export function fixtureBytes(schema: AvroRecord, version: number, record: unknown): Buffer {
  const header = Buffer.alloc(5)
  header.writeUInt32BE(version, 1)
  return Buffer.concat([header, avroTypeOf(schema).toBuffer(record)])
}

if (process.argv[1]?.endsWith('log-fixtures.js')) {
  const folder = join(repositoryRoot(), 'test/fixtures/avro')
  mkdirSync(folder, { recursive: true })
  for (const name of RECORD_NAMES) {
    const versions = schemaVersions(name)
    const newest = versions.at(-1)
    const file = join(folder, `${name}.v${versions.length}`)
    if (newest === undefined || existsSync(`${file}.bin`)) continue
    const record = sample(newest, { named: new Map(), count: 0 })
    writeFileSync(`${file}.bin`, fixtureBytes(newest, versions.length, record))
    const shown = name === 'block_update' ? unpackUpdate(record as BlockUpdate) : record
    writeFileSync(`${file}.json`, `${JSON.stringify(shown, null, 2)}\n`)
  }
}
