import type { EventLog } from '../../core/log/port.js'
import type { Store } from '../../core/store/port.js'

export type Sizes = {
  log: { topic: string; records: number; bytes: number }[]
  store: { table: string; rows: number; bytes: number }[]
}

const TABLES = `SELECT table, toFloat64(sum(rows)) AS rows, toFloat64(sum(bytes_on_disk)) AS bytes
FROM system.parts WHERE active AND database = currentDatabase() GROUP BY table ORDER BY bytes DESC, table`

export async function readSizes(log: EventLog, store: Pick<Store, 'query'>): Promise<Sizes> {
  const topics = await log.topics()
  const infos = await Promise.all(topics.map(({ topic }) => log.info(topic)))
  const tables = await store.query<{ table: string; rows: number; bytes: number }>(TABLES)
  return {
    log: infos
      .map(({ topic, start, end, bytes }) => ({ topic, records: end - start, bytes: Math.round(bytes) }))
      .sort((a, b) => b.bytes - a.bytes || (a.topic < b.topic ? -1 : 1)),
    store: tables.map(({ table, rows, bytes }) => ({ table, rows: Number(rows), bytes: Number(bytes) })),
  }
}

export const totalBytes = (parts: readonly { bytes: number }[]): number =>
  parts.reduce((sum, { bytes }) => sum + bytes, 0)
