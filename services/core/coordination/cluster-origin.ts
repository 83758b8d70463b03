/** Where a cluster's blocks come from: the first claim in log order is final. */
import { assertSameOrigin, type Claim, claimText, readClaim } from '../data-dir/origin.js'
import { openKeyedTable } from '../log/keyed-table.js'
import { type EventLog, SOURCES_TOPIC } from '../log/port.js'

/** Each claimant has its own key: under one key compaction would keep the last claim, not the first. */
const PREFIX = 'origin/'
const THE_LOG = 'The log (KAFKA_BROKERS)'
const OTHER_CLUSTER = 'Set KAFKA_BROKERS to another cluster, or use the data this one already has.'

/** Undefined: no claim yet. */
export async function sharedOrigin(log: EventLog): Promise<Claim | undefined> {
  const [first] = (await openKeyedTable<unknown>(log, SOURCES_TOPIC)).entries(PREFIX)
  return first === undefined ? undefined : readClaim(String(first.value), THE_LOG, OTHER_CLUSTER)
}

/** Marks the cluster; throws if it holds other data. `writer` is this process's own name. */
export async function claimSharedOrigin(log: EventLog, wanted: Claim, writer: string): Promise<void> {
  const table = await openKeyedTable<unknown>(log, SOURCES_TOPIC)
  if (table.entries(PREFIX).length === 0) await table.put(`${PREFIX}${writer}`, claimText(wanted))
  const [first] = table.entries(PREFIX)
  if (first === undefined) return
  assertSameOrigin(THE_LOG, readClaim(String(first.value), THE_LOG, OTHER_CLUSTER), wanted, OTHER_CLUSTER)
}
