/** What a cluster's log and store hold, in the forms one process's data directory is read in. */
import { createCodec } from '../../../services/core/log/codec.js'
import { type EventLog, type LogRecord, updatesTopic } from '../../../services/core/log/port.js'
import { inLogRegistry } from '../../../services/core/log/registry-in-log.js'
import { openStore } from '../../../services/core/store/clickhouse-store.js'
import { SORT_KEYS } from '../sort-keys.js'
import { type Contents, contentsOf, type OpenedLog, readRowsIn } from '../up/contents.js'
import type { Cluster } from './cluster.js'

type Held = Pick<Cluster, 'log' | 'store'>

export const openedLogOf = ({ log }: Pick<Cluster, 'log'>): OpenedLog => ({
  log,
  codec: createCodec(inLogRegistry(log)),
})

export async function clusterContents(cluster: Held, chains: Iterable<string>): Promise<Contents> {
  const rows = await readRowsIn({ kind: 'server', url: cluster.store.url })
  return contentsOf(openedLogOf(cluster), rows, chains)
}

/** Of every table: how many rows FINAL gives, and how many of them are different. */
export async function rowCounts({ store: { url } }: Held): Promise<{ table: string; rows: number; unique: number }[]> {
  const store = await openStore({ kind: 'server', url })
  try {
    return await Promise.all(
      Object.entries(SORT_KEYS).map(async ([table, key]) => {
        const [found] = await store.query<{ rows: string; unique: string }>(
          `SELECT count() AS rows, uniqExact(${key.join(', ')}) AS unique FROM ${table} FINAL`,
        )
        return { table, rows: Number(found?.rows), unique: Number(found?.unique) }
      }),
    )
  } finally {
    await store.close()
  }
}

/** Everything a topic holds, without decoding it. */
export async function readRecords(log: EventLog, topic: string): Promise<LogRecord[]> {
  const all: LogRecord[] = []
  for (let from = (await log.info(topic)).start; ; ) {
    const records = await log.read(topic, { from })
    const last = records.at(-1)
    if (last === undefined) return all
    all.push(...records)
    from = last.offset + 1
  }
}

/** Before a record's Avro binary: a zero byte and the schema's number, which each registry gives itself. */
const HEADER_BYTES = 5

/** A chain's updates as bytes, parts apart, in hexadecimal. */
export async function updateBytes(log: EventLog, chain: string): Promise<string[]> {
  const records = await readRecords(log, updatesTopic(chain))
  return records.map(({ value }) => Buffer.from(value.subarray(HEADER_BYTES)).toString('hex'))
}
