import type { ClickHouseSettings } from '@clickhouse/client'

/**
 * A ClickHouse cluster: statements that define tables run on every replica, and their rows are replicated. Names of the server's
 * macros (shard, replica) and of the table make the path, so that a replica that lost its disk finds its place again.
 */
const DEFINES =
  /^(CREATE (DATABASE|TABLE|MATERIALIZED VIEW) IF NOT EXISTS|CREATE OR REPLACE VIEW|DROP DATABASE IF EXISTS|ALTER TABLE)\s+[\w.]+/
/** Partitions are attached on one replica, which tells the others. */
const ATTACHES = /^ALTER TABLE\s+[\w.]+\s+ATTACH /
const ENGINE = /\bENGINE = (\w*MergeTree)(\(([^)]*)\))?/
const PLACE = "'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'"

export function onCluster(statement: string, cluster: string): string {
  if (ATTACHES.test(statement)) return statement
  const engine = (_: string, name: string, __: string, given = '') =>
    `ENGINE = Replicated${name}(${given === '' ? PLACE : `${PLACE}, ${given}`})`
  return statement.replace(DEFINES, (head) => `${head} ON CLUSTER \`${cluster}\``).replace(ENGINE, engine)
}

/**
 * A row counts as stored once most replicas have it, and every query sees it, whichever replica answers: progress that says more
 * than the rows beside it would lose some. A repeated insert is not dropped as known, since its materialized views may have failed.
 */
export const CLUSTER_SETTINGS: ClickHouseSettings = {
  ...{ insert_quorum: 'auto', insert_quorum_parallel: 0, insert_deduplicate: 0 },
  select_sequential_consistency: '1',
  // A replica that is away makes up for it when it is back.
  ...{ alter_sync: '1', lightweight_deletes_sync: '1' },
  ...{ distributed_ddl_output_mode: 'null_status_on_timeout', distributed_ddl_task_timeout: '30' },
}
