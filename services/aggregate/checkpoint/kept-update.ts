/** The last update of a fold that publishes nothing. It is the first of its epoch that readers get. */
import type { LogEntry } from '../../core/log/port.js'
import { pack, type StateChange, type StateStore, unpack } from './state-store.js'

const KEY = 'u/last'

/** Its encoded parts in base64. */
export type KeptUpdate = { parts: string[]; timestampMs: number }

export function keptUpdate(store: StateStore): KeptUpdate | undefined {
  const kept = store.get(KEY)
  return kept === undefined ? undefined : unpack<KeptUpdate>(kept).fields
}

export function changeOf(kept: KeptUpdate | null): StateChange {
  return { key: KEY, value: kept === null ? null : pack(kept) }
}

export function keptForm(entries: readonly LogEntry[]): KeptUpdate {
  const parts = entries.map(({ value }) => Buffer.from(value).toString('base64'))
  return { parts, timestampMs: entries[0]?.timestampMs ?? 0 }
}

export function entriesOf({ parts, timestampMs }: KeptUpdate, chain: string): LogEntry[] {
  return parts.map((part) => ({ key: chain, value: Buffer.from(part, 'base64'), timestampMs }))
}
