/** Where a cluster's blocks come from: the first claim in the log's order stands for good. */
import { assertSameOrigin, type Claim, claimText, readClaim } from '../data-dir/origin.js'
import { openKeyedTable } from '../log/keyed-table.js'
import type { EventLog } from '../log/port.js'
import { SOURCES_TOPIC } from './internal-topics.js'

/** Each claimant has a key of its own: under one key compaction would keep the last claim, not the first. */
const PREFIX = 'origin/'
const THE_LOG = 'The log (KAFKA_BROKERS)'
const OTHER_CLUSTER = 'Name another cluster in KAFKA_BROKERS, or give the data of this one.'

/** Undefined: nothing was claimed yet. */
export async function sharedOrigin(log: EventLog): Promise<Claim | undefined> {
  const [first] = (await openKeyedTable<unknown>(log, SOURCES_TOPIC)).entries(PREFIX)
  return first === undefined ? undefined : readClaim(String(first.value), THE_LOG, OTHER_CLUSTER)
}

/** Marks the cluster, or refuses where it holds something else. `writer` is this process's own name. */
export async function claimSharedOrigin(log: EventLog, wanted: Claim, writer: string): Promise<void> {
  const table = await openKeyedTable<unknown>(log, SOURCES_TOPIC)
  if (table.entries(PREFIX).length === 0) await table.put(`${PREFIX}${writer}`, claimText(wanted))
  const [first] = table.entries(PREFIX)
  if (first === undefined) return
  assertSameOrigin(THE_LOG, readClaim(String(first.value), THE_LOG, OTHER_CLUSTER), wanted, OTHER_CLUSTER)
}
