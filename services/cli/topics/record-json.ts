/** Records as JSON lines. Blocks and retracts have the form of recordings, which omits null and default fields. */
import type { Event } from '../../core/domain/records.js'
import type { DecodedRecord } from '../../core/log/codec.js'
import { unpackUpdate } from '../../core/log/unpacked-update.js'
import { rawText } from '../../serve/operator/dead-letters.js'

/** `extra` fields come first. */
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
      // Unknown numbers are NaN in updates, which JSON writes as null.
      return JSON.stringify({ ...extra, ...unpackUpdate(record.update) })
    case 'dead': {
      const { raw, ...letter } = record.dead
      return JSON.stringify({ ...extra, ...letter, raw: rawText(raw) })
    }
    case 'trade':
      return JSON.stringify({ ...extra, ...record.trade })
  }
}

/** Avro in the registry's wire format starts with a zero byte; internal topics hold JSON or other bytes. */
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
