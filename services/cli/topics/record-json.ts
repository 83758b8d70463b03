/** Records as JSON lines. Blocks and retracts take the form of recordings: what is unknown or usual is left out. */
import type { Event } from '../../core/domain/records.js'
import type { DecodedRecord } from '../../core/log/codec.js'

/** `extra` comes first, for people who look at single records. */
export function recordJson(record: DecodedRecord, extra: Record<string, unknown> = {}): string {
  switch (record.kind) {
    case 'block': {
      const { part, last_part, events, ...head } = record.block
      const parts = last_part === 0 ? {} : { part, last_part }
      return JSON.stringify({ ...extra, kind: 'block', ...head, ...parts, events: events.map(eventForm) })
    }
    case 'retract':
      return JSON.stringify({ ...extra, kind: 'retract', ...record.retract })
    case 'update':
      // Unknown numbers are NaN in updates, and NaN is null in JSON.
      return JSON.stringify({ ...extra, ...record.update })
    case 'dead': {
      const { raw, ...letter } = record.dead
      return JSON.stringify({ ...extra, ...letter, raw: rawText(raw) })
    }
    case 'trade':
      return JSON.stringify({ ...extra, ...record.trade })
  }
}

/** Topics of the processes' own hold JSON or bytes; Avro in the registry's wire format begins with a zero. */
export const isAvro = (value: Uint8Array): boolean => value[0] === 0

export function internalJson(bytes: Uint8Array, extra: Record<string, unknown>): string {
  const text = rawText(bytes)
  try {
    return JSON.stringify({ ...extra, value: JSON.parse(text) })
  } catch {
    return JSON.stringify({ ...extra, value: text })
  }
}

function eventForm({ type, ...fields }: Event): Record<string, unknown> {
  const form: Record<string, unknown> = { type }
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || (name === 'sub' && value === 0)) continue
    form[name] = value
  }
  return form
}

/** Raw bytes as text where they are text, else in base64. */
export function rawText(raw: Uint8Array): string {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const text = bytes.toString('utf8')
  return Buffer.from(text).equals(bytes) ? text : `base64:${bytes.toString('base64')}`
}
